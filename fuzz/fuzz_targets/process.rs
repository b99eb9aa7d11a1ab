#![no_main]

#[path = "../body.rs"]
mod body;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../models/guided");

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| body::process(bytes, FOLDER));
