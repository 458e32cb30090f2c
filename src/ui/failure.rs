//! How a command ends when it can't do what it was asked to.

use anstyle::{AnsiColor, Style};

use crate::codes::Code;
use crate::report::format::filled;

/// Columns of a terminal that anybody has.
const WIDTH: usize = 80;

/// Exit codes. When several apply, the worst wins: 70, 1, 4, 3, 5.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    Passed,
    Violated,
    Usage,
    Inconclusive,
    Environment,
    BudgetMissed,
    Bug,
    Interrupted,
}

impl Exit {
    pub const fn code(self) -> u8 {
        match self {
            Self::Passed => 0,
            Self::Violated => 1,
            Self::Usage => 2,
            Self::Inconclusive => 3,
            Self::Environment => 4,
            Self::BudgetMissed => 5,
            Self::Bug => 70,
            Self::Interrupted => 130,
        }
    }
}

/// What happened, why, and what to do.
#[derive(Clone, Debug)]
pub struct Failure {
    pub exit: Exit,
    pub code: Option<&'static Code>,
    /// One sentence, or the whole message where `is_told` says so.
    pub what: String,
    /// From the nearest cause to the farthest.
    pub because: Vec<String>,
    pub cure: String,
    /// What was kept, or anything else worth knowing.
    pub notes: Vec<String>,
    /// Whether somebody who knows more has written the whole message already.
    pub is_told: bool,
}

impl Failure {
    /// A mistake of the command line.
    pub fn usage(what: impl Into<String>, cure: impl Into<String>) -> Self {
        Self {
            exit: Exit::Usage,
            code: None,
            what: what.into(),
            because: Vec::new(),
            cure: cure.into(),
            notes: Vec::new(),
            is_told: false,
        }
    }

    /// A mistake that is told in full already, such as those of a profile.
    pub fn told(message: String) -> Self {
        Self { is_told: true, ..Self::usage(message, String::new()) }
    }

    /// A trouble of the registry, with the error that brought it and everything behind it.
    pub fn trouble(code: &'static Code, error: &dyn std::error::Error) -> Self {
        let mut because = Vec::new();
        let mut source = error.source();
        while let Some(cause) = source {
            because.push(cause.to_string());
            source = cause.source();
        }
        Self {
            exit: Exit::Environment,
            code: Some(code),
            what: error.to_string(),
            because,
            cure: code.cure.to_owned(),
            notes: Vec::new(),
            is_told: false,
        }
    }

    #[must_use]
    pub fn with_note(mut self, note: String) -> Self {
        self.notes.push(note);
        self
    }

    /// The message for stderr, styled.
    pub fn render(&self) -> String {
        if self.is_told {
            return self.what.clone();
        }
        const RED: Style = AnsiColor::Red.on_default().bold();
        let code = self.code.map(|code| format!("[{}]", code.id)).unwrap_or_default();
        let lead = format!("error{code}: ");
        let said = set_out(&lead, 2, &self.what);
        let mut out =
            said.replacen(&format!("error{code}"), &format!("{RED}error{code}{RED:#}"), 1);
        for because in &self.because {
            out.push_str(&set_out("  because: ", 11, because));
        }
        out.push_str(&set_out("  help: ", 8, &self.cure));
        for note in &self.notes {
            out.push_str(&set_out("  note: ", 8, note));
        }
        if let Some(code) = self.code {
            out.push_str(&format!("  more: dupeproof explain {}\n", code.id));
        }
        out
    }
}

/// A text behind its lead, filled into lines; those after the first begin at `indent`. A word that is
/// too long for a line, such as a path, stays whole.
pub(super) fn set_out(lead: &str, indent: usize, text: &str) -> String {
    let lines = filled(text, WIDTH - lead.len().max(indent));
    format!("{lead}{}\n", lines.join(&format!("\n{}", " ".repeat(indent))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_fits_the_terminal() {
        let long = "a service that answers slowly ".repeat(9);
        let mut failure =
            Failure::usage(&long, &long).with_note("its log:\n  kept as it is".to_owned());
        failure.because = vec![long.clone(), "one\ntwo".to_owned()];
        failure.code = Some(&crate::codes::E05);
        let text = anstream::adapter::strip_str(&failure.render()).to_string();
        assert!(text.lines().all(|line| line.len() <= WIDTH), "{text}");
        assert!(text.starts_with("error[E05]: a service"), "{text}");
        assert!(text.contains("\n  because: one\n           two\n"), "{text}");
        assert!(text.contains("\n  note: its log:\n          kept as it is\n"), "{text}");
    }
}
