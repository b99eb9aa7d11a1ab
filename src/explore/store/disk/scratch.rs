//! A file that only this program can see, and only as long as it runs: blocks of one size, each with a check.
//!
//! The file has a name for a moment and none afterwards, so the system takes it back however the program ends, and no
//! other program meets it. Checks are kept in memory: what comes back from the disk is what was written there, and not
//! another block, an older one, or none.
//!
//! Absent on purpose: what is in a block.

use crate::value::hash::{GOLDEN, mix};
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Why the disk is of no use any more, for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble(pub String);

impl Trouble {
    const WRITING: &str = "cannot write";

    /// Whether nothing is lost but that something could not be written.
    pub fn is_of_writing(&self) -> bool {
        self.0.starts_with(Trouble::WRITING)
    }
}

/// Files of this process so far.
static FILES: AtomicU64 = AtomicU64::new(0);

#[derive(Debug)]
pub struct Scratch {
    file: File,
    folder: PathBuf,
    /// Where a file that is open keeps its name, it is removed at the end.
    name: Option<PathBuf>,
    block: usize,
    checks: Vec<u64>,
    /// Bytes, of which the last block may have fewer than the others.
    len: u64,
}

impl Scratch {
    /// A file in a folder, with blocks of so many bytes.
    pub fn create(folder: &Path, block: usize) -> Result<Scratch, Trouble> {
        let wrong =
            |e: io::Error| Trouble(format!("{} files in {}: {e}", Trouble::WRITING, folder.display()));
        let number = FILES.fetch_add(1, Ordering::Relaxed);
        let path = folder.join(format!("kanon-{}-{number}.tmp", std::process::id()));
        let file = OpenOptions::new().read(true).write(true).create_new(true).open(&path).map_err(wrong)?;
        let name = std::fs::remove_file(&path).is_err().then_some(path);
        Ok(Scratch { file, folder: folder.to_path_buf(), name, block: block.max(1), checks: vec![], len: 0 })
    }

    /// How many blocks there are.
    pub fn blocks(&self) -> usize {
        self.checks.len()
    }

    /// How many bytes there are.
    pub fn bytes(&self) -> u64 {
        self.len
    }

    /// Adds whole blocks; only the last that is ever added may be a part of one.
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), Trouble> {
        let wrong = |e| Trouble(format!("{} states to {}: {e}", Trouble::WRITING, self.folder.display()));
        self.file.seek(SeekFrom::Start(self.len)).map_err(wrong)?;
        self.file.write_all(bytes).map_err(wrong)?;
        for block in bytes.chunks(self.block) {
            self.checks.push(check(block, self.checks.len()));
        }
        self.len += bytes.len() as u64;
        Ok(())
    }

    /// Forgets all blocks but the first.
    pub fn truncate(&mut self, blocks: usize) {
        if blocks < self.checks.len() {
            self.checks.truncate(blocks);
            self.len = (blocks * self.block) as u64;
        }
    }

    /// Reads blocks that follow one another, and compares them with their checks.
    pub fn read(&mut self, first: usize, blocks: usize, into: &mut Vec<u8>) -> Result<(), Trouble> {
        let folder = &self.folder;
        let begin = (first * self.block) as u64;
        let bytes = ((blocks * self.block) as u64).min(self.len.saturating_sub(begin)) as usize;
        into.resize(bytes, 0);
        let wrong = |e| Trouble(format!("cannot read states from {}: {e}", folder.display()));
        self.file.seek(SeekFrom::Start(begin)).map_err(wrong)?;
        self.file.read_exact(into).map_err(wrong)?;
        for (i, block) in into.chunks(self.block).enumerate() {
            if self.checks.get(first + i) != Some(&check(block, first + i)) {
                let folder = folder.display();
                let what = format!(
                    "what was read from {folder} is not what was written there (block {})",
                    first + i
                );
                return Err(Trouble(what));
            }
        }
        Ok(())
    }

    /// Damages the file, to see that somebody notices.
    #[cfg(test)]
    pub fn damage(&mut self, at: u64, byte: u8) {
        self.file.seek(SeekFrom::Start(at)).expect("a place");
        self.file.write_all(&[byte]).expect("it can be written");
    }

    /// The same, by its end.
    #[cfg(test)]
    pub fn cut(&mut self, len: u64) {
        self.file.set_len(len).expect("it can be cut");
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if let Some(name) = &self.name {
            // Nobody can do anything about it.
            let _ = std::fs::remove_file(name);
        }
    }
}

/// The check of a block, in its place. Four sums side by side: each word changes one of them for certain.
fn check(block: &[u8], place: usize) -> u64 {
    let mut sums = [GOLDEN, !GOLDEN, GOLDEN.rotate_left(17), place as u64];
    let step = |sum: &mut u64, bytes: &[u8]| {
        let mut word = [0; 8];
        word[..bytes.len()].copy_from_slice(bytes);
        *sum = (*sum ^ u64::from_le_bytes(word)).wrapping_mul(GOLDEN).rotate_left(29);
    };
    let (four, rest) = block.as_chunks::<32>();
    for bytes in four {
        for (i, sum) in sums.iter_mut().enumerate() {
            step(sum, &bytes[i * 8..i * 8 + 8]);
        }
    }
    for (i, bytes) in rest.chunks(8).enumerate() {
        step(&mut sums[i % 4], bytes);
    }
    sums.iter().fold(block.len() as u64, |all, sum| mix(all ^ sum).rotate_left(31))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_is_what_was_written() {
        let folder = std::env::temp_dir();
        let mut file = Scratch::create(&folder, 40).expect("a file");
        let bytes: Vec<u8> = (0..130u32).map(|i| (i * 7) as u8).collect();
        file.push(&bytes[..80]).expect("two blocks");
        file.push(&bytes[80..]).expect("one block, and a part of one");
        assert_eq!((file.blocks(), file.bytes()), (4, 130));
        let mut read = vec![];
        file.read(1, 2, &mut read).expect("two blocks");
        assert_eq!(read, bytes[40..120]);
        file.read(0, 100, &mut read).expect("all");
        assert_eq!(read, bytes);
        for (at, blocks) in [(0, 0..1), (79, 1..2), (129, 3..4)] {
            file.damage(at, bytes[at as usize] ^ 4);
            for block in 0..4 {
                let is_read = file.read(block, 1, &mut read).is_ok();
                assert_eq!(is_read, !blocks.contains(&block), "byte {at}, block {block}");
            }
            file.damage(at, bytes[at as usize]);
        }
        // Another block, in whole.
        bytes[..40].iter().enumerate().for_each(|(i, byte)| file.damage(40 + i as u64, *byte));
        assert!(file.read(0, 1, &mut read).is_ok() && file.read(1, 1, &mut read).is_err());
        file.cut(100);
        let why = file.read(2, 1, &mut read).expect_err("it is too short");
        assert!(why.0.contains("cannot read states from"), "{why:?}");
    }

    #[test]
    fn nothing_is_left_in_the_folder() {
        let folder = std::env::temp_dir().join(format!("kanon-scratch-{}", std::process::id()));
        std::fs::create_dir(&folder).expect("a folder");
        let mut file = Scratch::create(&folder, 8).expect("a file");
        file.push(&[1; 8]).expect("a block");
        if cfg!(unix) {
            assert_eq!(std::fs::read_dir(&folder).expect("the folder").count(), 0);
        }
        drop(file);
        std::fs::remove_dir(&folder).expect("it is empty");
        let why = Scratch::create(&folder, 8).expect_err("there is no folder");
        assert!(why.0.contains(&folder.display().to_string()), "{why:?}");
    }
}
