//! Hands the arguments to the command line's room.

use std::process::ExitCode;

use dupeproof::cli;

fn main() -> ExitCode {
    // Before any runtime starts: see `cli::hidden`.
    if let Some(code) = cli::hidden::dispatch(std::env::args_os()) {
        return code;
    }
    match tokio::runtime::Runtime::new() {
        Ok(runtime) => runtime.block_on(cli::run()),
        Err(_) => ExitCode::from(4),
    }
}
