//! The file of a checkpoint: a head as JSON, sections of bytes, and the hash of all of it.
//!
//! | bytes | what |
//! |---|---|
//! | 8 | `KANONCKP` |
//! | 4 | the version of the format, little-endian, like all numbers here |
//! | 4 | the length of the head, at most [`MAX_HEAD`] |
//! | … | the head, JSON in UTF-8 |
//! | | then sections, each: |
//! | 8 | its length |
//! | … | its content |
//! | 32 | the BLAKE3 hash of everything before |
//!
//! Which sections there are is the head's business. A file is read twice: first for its hash, since nothing in it means
//! anything if that is not right, then for what it says.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::Path;

const MAGIC: &[u8; 8] = b"KANONCKP";
/// The version of the format.
pub const VERSION: u32 = 1;
const MAX_HEAD: usize = 64 << 20;
const HASH: usize = 32;

/// Writes a file, and hashes what it writes.
pub struct Writer<W: Write> {
    out: W,
    hasher: blake3::Hasher,
    bytes: u64,
}

impl<W: Write> Writer<W> {
    /// Begins with the head.
    pub fn new(out: W, head: &str) -> io::Result<Writer<W>> {
        let mut writer = Writer { out, hasher: blake3::Hasher::new(), bytes: 0 };
        if head.len() > MAX_HEAD {
            return Err(io::Error::new(ErrorKind::InvalidData, "there is too much to say of the model"));
        }
        writer.put(MAGIC)?;
        writer.put(&VERSION.to_le_bytes())?;
        writer.put(&(head.len() as u32).to_le_bytes())?;
        writer.put(head.as_bytes())?;
        Ok(writer)
    }

    /// Begins a section; so many bytes have to follow.
    pub fn section(&mut self, length: u64) -> io::Result<()> {
        self.put(&length.to_le_bytes())
    }

    pub fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.hasher.update(bytes);
        self.bytes += bytes.len() as u64;
        self.out.write_all(bytes)
    }

    /// Ends with the hash; how many bytes there are.
    pub fn end(self) -> io::Result<(W, u64)> {
        self.end_hashed().map(|(out, bytes, _)| (out, bytes))
    }

    /// The same, and the hash.
    pub fn end_hashed(mut self) -> io::Result<(W, u64, blake3::Hash)> {
        let hash = self.hasher.finalize();
        self.out.write_all(hash.as_bytes())?;
        Ok((self.out, self.bytes + HASH as u64, hash))
    }
}

/// Writes a file as a whole or not at all: under another name until all of it is on the disk.
pub fn whole(
    path: &Path,
    fill: impl FnOnce(BufWriter<File>) -> io::Result<(BufWriter<File>, u64)>,
) -> io::Result<u64> {
    let under_way = path.with_extension("tmp");
    let written = (|| {
        let (out, bytes) = fill(BufWriter::with_capacity(1 << 18, File::create(&under_way)?))?;
        let file = out.into_inner().map_err(|e| e.into_error())?;
        file.sync_all()?;
        std::fs::rename(&under_way, path)?;
        // The name, too; where a folder cannot be opened there is no such thing.
        if let Some(Ok(folder)) = path.parent().map(File::open) {
            folder.sync_all()?;
        }
        Ok(bytes)
    })();
    if written.is_err() {
        let _ = std::fs::remove_file(&under_way);
    }
    written
}

fn damaged(why: &str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, why)
}

/// A file whose hash is right, read from the front.
pub struct Reader {
    input: BufReader<File>,
    /// Bytes before the hash that have not been read.
    left: u64,
    /// Bytes before the hash.
    all: u64,
    hash: blake3::Hash,
}

impl Reader {
    /// The head, and the sections behind it.
    pub fn open(path: &Path) -> io::Result<(Reader, String)> {
        let (left, hash) = checked(path)?;
        let input = BufReader::with_capacity(1 << 18, File::open(path)?);
        let mut reader = Reader { input, left, all: left, hash };
        let mut begin = [0; 16];
        reader.take(&mut begin)?;
        let number = |at: usize| u32::from_le_bytes([begin[at], begin[at + 1], begin[at + 2], begin[at + 3]]);
        if begin[..8] != MAGIC[..] {
            return Err(damaged("it is no checkpoint"));
        }
        if number(8) != VERSION {
            let why =
                format!("its format has version {}, and this program reads version {VERSION}", number(8));
            return Err(damaged(&why));
        }
        let length = number(12) as usize;
        if length > MAX_HEAD {
            return Err(damaged("its head is too long"));
        }
        let mut head = vec![0; length];
        reader.take(&mut head)?;
        let head = String::from_utf8(head).map_err(|_| damaged("its head is not UTF-8"))?;
        Ok((reader, head))
    }

    /// The file's hash.
    pub fn hash(&self) -> blake3::Hash {
        self.hash
    }

    /// Another reader of the same file, at the same place.
    pub fn another(&self, path: &Path) -> io::Result<Reader> {
        let mut file = File::open(path)?;
        file.seek(SeekFrom::Start(self.all - self.left))?;
        let input = BufReader::with_capacity(1 << 16, file);
        Ok(Reader { input, left: self.left, all: self.all, hash: self.hash })
    }

    /// Leaves so many bytes out.
    pub fn skip(&mut self, bytes: u64) -> io::Result<()> {
        self.left = self.left.checked_sub(bytes).ok_or_else(|| damaged("it ends early"))?;
        self.input.seek(SeekFrom::Start(self.all - self.left)).map(drop)
    }

    /// How many bytes the next section has.
    pub fn section(&mut self) -> io::Result<u64> {
        let mut length = [0; 8];
        self.take(&mut length)?;
        let length = u64::from_le_bytes(length);
        if length > self.left { Err(damaged("it ends early")) } else { Ok(length) }
    }

    /// The next section as a whole.
    pub fn bytes(&mut self) -> io::Result<Vec<u8>> {
        let length = self.section()?;
        // Not more than the file has.
        let mut bytes = vec![0; usize::try_from(length).map_err(|_| damaged("a section is too long"))?];
        self.take(&mut bytes)?;
        Ok(bytes)
    }

    /// Fills a buffer.
    pub fn take(&mut self, bytes: &mut [u8]) -> io::Result<()> {
        self.left = self.left.checked_sub(bytes.len() as u64).ok_or_else(|| damaged("it ends early"))?;
        self.input.read_exact(bytes)
    }
}

/// How many bytes of a file come before its hash, which is right.
fn checked(path: &Path) -> io::Result<(u64, blake3::Hash)> {
    let file = File::open(path)?;
    let length = file.metadata()?.len();
    let Some(before) = length.checked_sub(HASH as u64) else { return Err(damaged("it is too short")) };
    let mut input = BufReader::with_capacity(1 << 18, file);
    let mut hasher = blake3::Hasher::new();
    let mut buffer = vec![0; 1 << 16];
    let mut left = before;
    while left > 0 {
        let most = buffer.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        let part = &mut buffer[..most];
        input.read_exact(part)?;
        hasher.update(part);
        left -= part.len() as u64;
    }
    let mut hash = [0; HASH];
    input.read_exact(&mut hash)?;
    let hash = blake3::Hash::from_bytes(hash);
    match hasher.finalize() == hash {
        true => Ok((before, hash)),
        false => Err(damaged("its content is not what its hash says")),
    }
}
