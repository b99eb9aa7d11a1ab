use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(kanon::cli::main(std::env::args_os()) as u8)
}
