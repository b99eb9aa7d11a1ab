//! The file: a head, the statement, chunks, and a seal.
//!
//! | bytes | what |
//! |---|---|
//! | 8 | `KANONCRT` |
//! | 4 | the version of the format, little-endian |
//! | 4 | the length of the statement, at most [`MAX_STATEMENT`] |
//! | … | the statement, JSON in UTF-8 |
//! | | then chunks, each: |
//! | 1 | its kind, see [`Kind`] |
//! | 4 | its length in the file, at most [`MAX_PACKED`] |
//! | 4 | its length without compression, at most [`MAX_CHUNK`] |
//! | 32 | the BLAKE3 hash of the bytes that follow |
//! | … | its content, compressed (raw DEFLATE) |
//! | | then the seal: |
//! | 1 | 0 |
//! | 32 | the BLAKE3 hash of the hash of the head and statement, followed by the first 41 bytes of every chunk |
//!
//! Nothing follows the seal. A reader needs no more memory than one chunk takes, whatever the file claims.

use crate::Rejected;
use std::io::{self, ErrorKind, Read, Write};

pub const MAGIC: &[u8; 8] = b"KANONCRT";
/// The version of the format.
pub const VERSION: u32 = 3;
pub const MAX_STATEMENT: usize = 16 << 20;
/// A chunk without compression.
pub const MAX_CHUNK: usize = 4 << 20;
/// A chunk in the file: what does not shrink grows by less than this.
pub const MAX_PACKED: usize = MAX_CHUNK + (MAX_CHUNK >> 3) + 1024;
/// When a writer begins a new chunk: one record more must fit.
pub const FULL: usize = 1 << 20;

/// What a chunk holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Valuations of the constants.
    Valuations = 1,
    /// The initial states of each valuation, as far as they are stored under another name only.
    Initial = 2,
    /// States, each with the witnesses of its successors.
    States = 3,
    /// Of a formula: sets of obligations.
    Obligations = 16,
    /// Of a formula: why no counterexample stays in a component.
    Components = 17,
    /// Of a formula: operations with their parameters that fairness speaks of.
    Instances = 18,
    /// Of a formula: the nodes of each state.
    Nodes = 19,
    /// Lemmas of an inductive invariant.
    Lemmas = 32,
    /// A question of a proof by formulas.
    Question = 33,
    /// Steps of the refutation of the last question.
    Steps = 34,
    /// The last question as SMT-LIB 2, where it has no refutation.
    Query = 36,
}

impl Kind {
    /// Chunks come in the order of these; the steps of a question are behind it, and before the next one.
    pub fn place(self) -> u8 {
        (self as u8).min(Kind::Question as u8)
    }

    fn of(byte: u8) -> Option<Kind> {
        let of_states = [Kind::Valuations, Kind::Initial, Kind::States];
        let of_paths = [Kind::Obligations, Kind::Components, Kind::Instances, Kind::Nodes];
        let by_formulas = [Kind::Lemmas, Kind::Question, Kind::Steps, Kind::Query];
        of_states.into_iter().chain(of_paths).chain(by_formulas).find(|k| *k as u8 == byte)
    }
}

/// Writes a certificate.
pub struct Writer<W: Write> {
    out: W,
    tree: blake3::Hasher,
}

impl<W: Write> Writer<W> {
    /// Writes the head and the statement.
    ///
    /// # Errors
    /// What the file system says; a statement that is too long.
    pub fn new(mut out: W, statement: &str) -> io::Result<Writer<W>> {
        if statement.len() > MAX_STATEMENT {
            return Err(io::Error::new(ErrorKind::InvalidData, "the statement is too long"));
        }
        let mut head = MAGIC.to_vec();
        head.extend(VERSION.to_le_bytes());
        head.extend((statement.len() as u32).to_le_bytes());
        head.extend(statement.as_bytes());
        out.write_all(&head)?;
        let mut tree = blake3::Hasher::new();
        tree.update(blake3::hash(&head).as_bytes());
        Ok(Writer { out, tree })
    }

    /// Writes a chunk.
    ///
    /// # Errors
    /// What the file system says; a chunk that is too long.
    pub fn chunk(&mut self, kind: Kind, content: &[u8]) -> io::Result<()> {
        if content.len() > MAX_CHUNK {
            return Err(io::Error::new(ErrorKind::InvalidData, "a state is too large for a certificate"));
        }
        let packed = miniz_oxide::deflate::compress_to_vec(content, 3);
        let mut head = vec![kind as u8];
        head.extend((packed.len() as u32).to_le_bytes());
        head.extend((content.len() as u32).to_le_bytes());
        head.extend(blake3::hash(&packed).as_bytes());
        self.tree.update(&head);
        self.out.write_all(&head)?;
        self.out.write_all(&packed)
    }

    /// Writes the seal.
    ///
    /// # Errors
    /// What the file system says.
    pub fn seal(mut self) -> io::Result<W> {
        self.out.write_all(&[0])?;
        self.out.write_all(self.tree.finalize().as_bytes())?;
        self.out.flush()?;
        Ok(self.out)
    }
}

/// Reads a certificate from the beginning to the end.
pub struct Reader<R: Read> {
    input: R,
    tree: blake3::Hasher,
    /// How many bytes have been read.
    at: u64,
    chunks: usize,
}

impl<R: Read> Reader<R> {
    /// Reads the head and the statement.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn new(input: R) -> Result<(Reader<R>, String), Rejected> {
        let mut reader = Reader { input, tree: blake3::Hasher::new(), at: 0, chunks: 0 };
        let head = reader.take(16)?;
        let number = |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        if &head[..8] != MAGIC {
            return Err(Rejected::NoCertificate);
        }
        if number(8) != VERSION {
            return Err(Rejected::Version(number(8)));
        }
        let length = number(12) as usize;
        if length > MAX_STATEMENT {
            return Err(reader.damaged("the statement is too long"));
        }
        let statement = reader.take(length)?;
        let mut hasher = blake3::Hasher::new();
        hasher.update(&head);
        hasher.update(&statement);
        reader.tree.update(hasher.finalize().as_bytes());
        let statement =
            String::from_utf8(statement).map_err(|_| reader.damaged("the statement is not UTF-8"))?;
        Ok((reader, statement))
    }

    /// The next chunk; none at the end, where the seal has been checked.
    ///
    /// # Errors
    /// A file that is damaged, with the place.
    pub fn chunk(&mut self) -> Result<Option<(Kind, Vec<u8>)>, Rejected> {
        let kind = self.take(1)?[0];
        if kind == 0 {
            let seal = self.take(32)?;
            if seal != self.tree.finalize().as_bytes() {
                return Err(self.damaged("the seal is not that of the chunks"));
            }
            return match self.input.read(&mut [0]) {
                Ok(0) => Ok(None),
                Ok(_) => Err(self.damaged("something follows the seal")),
                Err(e) => Err(Rejected::Unreadable(e.to_string())),
            };
        }
        let Some(kind) = Kind::of(kind) else { return Err(self.damaged("a chunk of an unknown kind")) };
        let head = self.take(40)?;
        let number = |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        let (packed, length) = (number(0) as usize, number(4) as usize);
        if packed > MAX_PACKED || length > MAX_CHUNK {
            return Err(self.damaged("a chunk is too long"));
        }
        let packed = self.take(packed)?;
        if blake3::hash(&packed).as_bytes()[..] != head[8..40] {
            return Err(self.damaged("a chunk is not what its hash says"));
        }
        let content = miniz_oxide::inflate::decompress_to_vec_with_limit(&packed, length)
            .map_err(|_| self.damaged("a chunk cannot be decompressed"))?;
        if content.len() != length {
            return Err(self.damaged("a chunk has another length than it says"));
        }
        self.tree.update(&[kind as u8]);
        self.tree.update(&head);
        self.chunks += 1;
        Ok(Some((kind, content)))
    }

    fn damaged(&self, why: &'static str) -> Rejected {
        Rejected::Damaged { byte: self.at, chunk: self.chunks, why }
    }

    /// So many bytes; memory is taken as they arrive.
    fn take(&mut self, n: usize) -> Result<Vec<u8>, Rejected> {
        let mut bytes = vec![];
        match self.input.by_ref().take(n as u64).read_to_end(&mut bytes) {
            Ok(_) => {}
            Err(e) => return Err(Rejected::Unreadable(e.to_string())),
        }
        self.at += bytes.len() as u64;
        if bytes.len() < n {
            return Err(self.damaged("the file ends early"));
        }
        Ok(bytes)
    }
}
