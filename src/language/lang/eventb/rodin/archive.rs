//! Archives (`.zip`) of Rodin projects. They come from elsewhere, so everything about them is bounded: nothing is
//! written to disk, and nothing is read that nobody asks for.

use std::collections::HashSet;
use std::io::{Cursor, Read, Write};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipArchive, ZipWriter};

/// Files in an archive at most.
const MAX_ENTRIES: usize = 20_000;
/// Bytes of all files that are read, unpacked, at most.
const MAX_BYTES: u64 = 256 << 20;
/// The endings of files that are read.
const ENDINGS: [&str; 7] = ["bum", "buc", "bpo", "bps", "bpr", "bcm", "bcc"];

/// A file in an archive.
#[derive(Debug)]
pub struct Entry {
    /// The folder, empty at the top.
    pub folder: String,
    /// Without the folder.
    pub name: String,
    pub text: String,
}

/// The files of Rodin's in an archive.
///
/// # Errors
/// What is wrong with it.
pub fn read(bytes: &[u8]) -> Result<Vec<Entry>, String> {
    let mut archive = ZipArchive::new(Cursor::new(bytes))
        .map_err(|e| format!("this is no zip archive, or a damaged one: {e}"))?;
    if archive.len() > MAX_ENTRIES {
        return Err(format!(
            "this archive has {} files; more than {MAX_ENTRIES} are not read",
            archive.len()
        ));
    }
    let mut entries: Vec<Entry> = vec![];
    let mut seen = HashSet::new();
    let mut left = MAX_BYTES;
    for i in 0..archive.len() {
        let mut file =
            archive.by_index(i).map_err(|e| format!("file {} of this archive cannot be read: {e}", i + 1))?;
        let path = file.name().map(|n| n.replace('\\', "/"));
        let path =
            path.map_err(|e| format!("the name of file {} of this archive cannot be read: {e}", i + 1))?;
        let is_ours = path.rsplit_once('.').is_some_and(|(_, ending)| ENDINGS.contains(&ending));
        if !is_ours || !file.is_file() || path.starts_with("__MACOSX/") {
            continue;
        }
        let is_inside =
            file.enclosed_name().is_some() && path.split('/').all(|part| !matches!(part, "" | "." | ".."));
        if !is_inside {
            return Err(format!("`{path}` in this archive points out of it"));
        }
        let mut text = vec![];
        let read = file.by_ref().take(left + 1).read_to_end(&mut text);
        read.map_err(|e| format!("`{path}` in this archive is damaged: {e}"))?;
        left = left.checked_sub(text.len() as u64).ok_or_else(|| {
            format!(
                "the files in this archive are larger than {} MiB when they are unpacked",
                MAX_BYTES >> 20
            )
        })?;
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", &path));
        if !seen.insert(path.clone()) {
            return Err(format!("`{path}` is twice in this archive"));
        }
        let text =
            String::from_utf8(text).unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned());
        entries.push(Entry { folder: folder.to_string(), name: name.to_string(), text });
    }
    Ok(entries)
}

/// An archive of these files; the same files make the same bytes.
///
/// # Errors
/// What went wrong, which for files of ordinary sizes is nothing.
pub fn write(files: &[(String, String)]) -> Result<Vec<u8>, String> {
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Deflated)
        .last_modified_time(DateTime::default());
    let mut writer = ZipWriter::new(Cursor::new(vec![]));
    for (name, text) in files {
        writer.start_file(name.as_str(), options).map_err(|e| e.to_string())?;
        writer.write_all(text.as_bytes()).map_err(|e| e.to_string())?;
    }
    writer.finish().map(Cursor::into_inner).map_err(|e| e.to_string())
}
