//! Words that look alike, for "did you mean".

/// The candidate that looks most like this word, if any does.
pub fn closest<'n>(word: &str, candidates: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let limit = (word.chars().count() / 3).max(1);
    candidates
        .map(|n| (distance(word, n), n))
        .filter(|(d, n)| *d <= limit && n.chars().count() > *d)
        .min()
        .map(|(_, n)| n)
}

/// Edits (insert, delete, replace, swap of neighbours) between two words; one when only the case differs.
pub fn distance(a: &str, b: &str) -> usize {
    /// Longer words are told apart by their beginnings.
    const LONG: usize = 60;
    if a != b && a.to_lowercase() == b.to_lowercase() {
        return 1;
    }
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().take(LONG).collect(), b.chars().take(LONG).collect());
    let mut table = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            table[i][j] = if i == 0 || j == 0 {
                i + j
            } else {
                let replace = table[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
                let least = replace.min(table[i - 1][j] + 1).min(table[i][j - 1] + 1);
                let swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
                if swapped { least.min(table[i - 2][j - 2] + 1) } else { least }
            };
        }
    }
    table[a.len()][b.len()]
}
