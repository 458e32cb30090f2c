//! The only room that writes to the terminal.
//!
//! stdout carries a command's result and nothing else; progress, notes and errors go to stderr.
//! Styles are taken out at the edge (`anstream`) where the terminal or `NO_COLOR` says so.

mod failure;
mod progress;

pub use failure::{Exit, Failure};
pub use progress::{Narrator, narrator};

use std::io::Write;

/// When to colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Color {
    /// On a terminal, unless NO_COLOR says otherwise.
    #[default]
    Auto,
    Always,
    Never,
}

/// Decides for the whole process.
pub fn choose_color(color: Color) {
    match color {
        Color::Auto => {}
        Color::Always => anstream::ColorChoice::Always.write_global(),
        Color::Never => anstream::ColorChoice::Never.write_global(),
    }
}

/// Whether text for stderr should be styled by whoever renders it.
pub fn colors_stderr() -> bool {
    anstream::AutoStream::choice(&std::io::stderr()) != anstream::ColorChoice::Never
}

/// The command's result. A reader that went away (`| head`) has had enough; any other trouble is
/// told, or the verdict would be lost in silence.
pub fn result(text: &str) {
    let mut out = anstream::stdout();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    match written {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            note(&format!("error: the result can't be written to stdout: {error}"));
        }
        _ => {}
    }
}

/// A note beside the result.
pub fn note(text: &str) {
    let _ = writeln!(anstream::stderr(), "{text}");
}
