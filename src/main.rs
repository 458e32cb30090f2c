//! Hands the arguments to the command line's room.

use std::process::ExitCode;

use dupeproof::cli;

fn main() -> ExitCode {
    if let Some(code) = cli::hidden::dispatch(std::env::args_os()) {
        return code;
    }
    ExitCode::from(2)
}
