#![no_main]

#[path = "../body.rs"]
mod body;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../models/lang");

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| body::check(bytes, FOLDER));
