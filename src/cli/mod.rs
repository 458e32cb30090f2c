//! One file per subcommand; each reads as the story of that command.

use std::error::Error;
use std::io::{self, Write};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::shop;

pub mod hidden;
pub mod lab;

const ENVIRONMENT: u8 = 4;

#[derive(Debug, Parser)]
#[command(version, about)]
struct Line {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Lab(lab::LabArgs),
    Shop(shop::ShopArgs),
}

/// Runs what the command line asks for.
pub async fn run() -> ExitCode {
    let done: Result<(), Box<dyn Error>> = match Line::parse().command {
        Command::Lab(args) => lab::lab(args).await.map_err(Into::into),
        Command::Shop(args) => shop::serve(args).await.map_err(Into::into),
    };
    let Err(error) = done else {
        return ExitCode::SUCCESS;
    };
    report(&*error);
    ExitCode::from(ENVIRONMENT)
}

/// Says what happened and why, on stderr.
fn report(error: &dyn Error) {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        text = format!("{text}: {inner}");
        cause = inner.source();
    }
    // Nobody is left to be told when stderr is closed.
    let _ = writeln!(io::stderr(), "dupeproof: {text}");
}
