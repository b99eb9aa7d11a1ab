//! Has the runtime of C++, which CaDiCaL needs, linked into programs where its archive is installed. As a shared library
//! it costs every start of a program two million instructions of looking up symbols, also those that ask no solver; and
//! the program would need it where it runs.
//!
//! The crate of CaDiCaL asks the linker for `stdc++`, whatever kind it is. The linker takes the first folder that has
//! one, so this makes a folder that has the archive only. Where there is none, nothing changes.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=CXX");
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|v| v == value);
    let native = env::var("HOST").ok() == env::var("TARGET").ok();
    let gnu = is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu");
    if env::var_os("CARGO_FEATURE_CADICAL").is_none() || !native || !gnu {
        return;
    }
    let folder = env::var_os("OUT_DIR").map(|out| Path::new(&out).join("runtime"));
    if let Some((folder, archive)) = folder.zip(archive())
        && fs::create_dir_all(&folder).is_ok()
        && fs::copy(archive, folder.join("libstdc++.a")).is_ok()
    {
        println!("cargo:rustc-link-search=native={}", folder.display());
    }
}

/// Where the compiler has the archive.
fn archive() -> Option<PathBuf> {
    let compiler = env::var("CXX").unwrap_or_else(|_| "c++".into());
    let output = Command::new(compiler).arg("-print-file-name=libstdc++.a").output().ok()?;
    let path = PathBuf::from(String::from_utf8(output.stdout).ok()?.trim());
    // A compiler that has none answers with the bare name.
    path.is_absolute().then_some(path).filter(|p| p.is_file())
}
