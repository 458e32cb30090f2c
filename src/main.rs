//! Hands over to the command line's room.

use std::process::ExitCode;

fn main() -> ExitCode {
    dupeproof::cli::main()
}
