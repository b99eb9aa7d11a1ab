#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    pub file: std::path::PathBuf,
}
pub fn run(_: &Args) -> super::Exit {
    super::Exit::Wrong
}
