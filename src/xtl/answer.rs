//! What the Prolog process says, frame by frame: a line with a letter and numbers, then as many bytes as the numbers say.

use std::fmt;

/// More than any text or state has.
const LONGEST: u64 = 1 << 28;

/// One thing that it says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// That was all.
    End,
    /// There may be more: the goal, and why it was not computed.
    Fault(String),
    /// A label that was not there before: which patterns it is in, its name, its text.
    Label { mask: u64, name: String, text: String },
    /// A solution: the number of its label, and a state.
    Solution { label: u64, state: Vec<u8> },
    /// Which properties hold.
    Properties(u64),
    /// A state as text.
    Text(String),
    /// What a transition may be called.
    Operation(String),
    /// A mistake in the program: file, line (from 1; 0 if there is no place), column and what is wrong.
    Mistake { file: String, line: u64, column: u64, text: String },
    /// It wants a file: who asks, and what it is called there.
    Include { from: String, path: String },
}

/// What a beginning of bytes is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Read {
    /// A frame, and how many bytes it has.
    Frame(Answer, usize),
    /// The beginning of one.
    More,
    /// Nothing that this protocol has.
    Wrong(Garbled),
}

/// Bytes that are no frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Garbled(pub String);

impl fmt::Display for Garbled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "it said something that is no answer: {}", self.0)
    }
}

/// Reads one frame.
pub fn read(bytes: &[u8]) -> Read {
    const LINE: usize = 128;
    let garbled = |bytes: &[u8]| {
        let shown: String = String::from_utf8_lossy(&bytes[..bytes.len().min(80)]).escape_debug().collect();
        Read::Wrong(Garbled(shown))
    };
    let Some(end) = bytes.iter().take(LINE).position(|b| *b == b'\n') else {
        return if bytes.len() < LINE { Read::More } else { garbled(bytes) };
    };
    let Ok(line) = std::str::from_utf8(&bytes[..end]) else { return garbled(bytes) };
    let mut words = line.split(' ');
    let kind = words.next().unwrap_or_default();
    let numbers: Option<Vec<u64>> = words.map(|w| w.parse().ok()).collect();
    let Some(numbers) = numbers else { return garbled(bytes) };
    // How many bytes follow, one number for each part.
    let parts: &[u64] = match (kind, &numbers[..]) {
        ("e", []) | ("p", [_]) => &[],
        ("x" | "v" | "o" | "f", [n]) => std::slice::from_ref(n),
        ("l", [_, parts @ ..]) if parts.len() == 2 => parts,
        ("t", [_, n]) => std::slice::from_ref(n),
        ("d", [_, _, n]) => std::slice::from_ref(n),
        _ => return garbled(bytes),
    };
    if parts.iter().any(|n| *n > LONGEST) {
        return garbled(bytes);
    }
    let mut at = end + 1;
    let mut payload = vec![];
    for n in parts {
        let Some(part) = bytes.get(at..at + *n as usize) else { return Read::More };
        payload.push(part);
        at += part.len();
    }
    let text = |part: &[u8]| String::from_utf8_lossy(part).into_owned();
    // A file's name, and what is said of it.
    let two = |part: &[u8]| {
        let text = text(part);
        text.split_once('\n').map_or((String::new(), text.clone()), |(a, b)| (a.to_string(), b.to_string()))
    };
    let answer = match (kind, &numbers[..], &payload[..]) {
        ("e", ..) => Answer::End,
        ("p", [mask], _) => Answer::Properties(*mask),
        ("x", _, [part]) => Answer::Fault(text(part)),
        ("v", _, [part]) => Answer::Text(text(part)),
        ("o", _, [part]) => Answer::Operation(text(part)),
        ("l", [mask, ..], [name, shown]) => {
            Answer::Label { mask: *mask, name: text(name), text: text(shown) }
        }
        ("t", [label, _], [state]) => Answer::Solution { label: *label, state: state.to_vec() },
        ("d", [line, column, _], [part]) => {
            let (file, text) = two(part);
            Answer::Mistake { file, line: *line, column: *column, text }
        }
        ("f", _, [part]) => {
            let (from, path) = two(part);
            Answer::Include { from, path }
        }
        _ => return garbled(bytes),
    };
    Read::Frame(answer, at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_read_and_nothing_else() {
        let frame = |bytes: &[u8], answer: Answer, used: usize| {
            assert_eq!(read(bytes), Read::Frame(answer, used), "{bytes:?}");
            // All beginnings of it are beginnings.
            for n in 0..used {
                assert_eq!(read(&bytes[..n]), Read::More, "{:?}", &bytes[..n]);
            }
        };
        frame(b"e\nrest", Answer::End, 2);
        frame(b"p 5\n", Answer::Properties(5), 4);
        frame(b"t 3 4\na\nb\0more", Answer::Solution { label: 3, state: b"a\nb\0".to_vec() }, 10);
        frame(b"l 1 2 4\nabab()", Answer::Label { mask: 1, name: "ab".into(), text: "ab()".into() }, 14);
        frame(b"x 2\n\xff\xfe", Answer::Fault("\u{fffd}\u{fffd}".into()), 6);
        let mistake = Answer::Mistake { file: "f".into(), line: 3, column: 0, text: "no".into() };
        frame(b"d 3 0 4\nf\nno", mistake, 12);
        frame(b"f 3\na\nb", Answer::Include { from: "a".into(), path: "b".into() }, 7);
        for bytes in [
            &b"hello\n"[..],
            b"e 1\n",
            b"t 1\n",
            b"p -1\n",
            b"t 0 99999999999999\n",
            b"x 18446744073709551615\n",
            b"\xff\xff\n",
            &[b'x'; 200],
        ] {
            assert!(matches!(read(bytes), Read::Wrong(_)), "{bytes:?}");
        }
    }
}
