//! How a command ends when it can't do what it was asked to.

use anstyle::{AnsiColor, Style};

use crate::codes::Code;

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
        let mut out = format!("{RED}error{code}{RED:#}: {}\n", self.what.trim_end());
        for because in &self.because {
            let lines: Vec<_> = because.trim_end().lines().collect();
            out.push_str(&format!("  because: {}\n", lines.join("\n           ")));
        }
        out.push_str(&format!("  help: {}\n", self.cure));
        for note in &self.notes {
            out.push_str(&format!("  note: {note}\n"));
        }
        if let Some(code) = self.code {
            out.push_str(&format!("  more: dupeproof explain {}\n", code.id));
        }
        out
    }
}
