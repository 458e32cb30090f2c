//! Mistakes with their places, and how they are shown: all of them, in the order of the file.
//!
//! Only the line of a mistake is handed to the renderer, cut where it goes on: a huge file or a
//! string over many lines stays readable.

use std::fmt::{self, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};

use crate::codes::Code;

/// More than these aren't shown; the last line tells how many there are.
const SHOWN: usize = 100;

/// Of a longer line only line and column are told.
const LONGEST_LINE: usize = 2_000;

/// A mistake in a profile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    pub code: &'static Code,
    /// Bytes of the source.
    pub span: Range<usize>,
    /// What is wrong, in a sentence.
    pub what: String,
    /// Stands at the place in the line.
    pub label: String,
    /// What to do.
    pub help: Vec<String>,
}

/// All mistakes of a profile, at least one, in the order of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistakes {
    pub path: PathBuf,
    pub source: String,
    pub list: Vec<Mistake>,
}

impl Mistake {
    pub fn new(code: &'static Code, span: Range<usize>, what: impl Into<String>) -> Self {
        Self { code, span, what: what.into(), label: String::new(), help: Vec::new() }
    }

    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }

    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help.push(help.into());
        self
    }
}

/// `10 mistakes in profiles/x.toml`.
impl fmt::Display for Mistakes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.list.len();
        write!(f, "{count} mistake{} in {}", if count == 1 { "" } else { "s" }, self.path.display())
    }
}

impl std::error::Error for Mistakes {}

impl Mistakes {
    pub(super) fn new(path: &Path, source: &str, mut list: Vec<Mistake>) -> Self {
        list.sort_by_key(|mistake| (mistake.span.start, mistake.span.end));
        Self { path: path.to_owned(), source: source.to_owned(), list }
    }

    /// All of it as text, ending with a line that counts them.
    pub fn render(&self, color: bool) -> String {
        let path = self.path.display().to_string();
        let mut out = String::new();
        for mistake in self.list.iter().take(SHOWN) {
            let line = Line::around(&self.source, &mistake.span);
            let title = Level::ERROR.primary_title(&*mistake.what).id(mistake.code.id);
            let group = if line.text.len() > LONGEST_LINE {
                let column = 1 + line.text[..line.span.start].chars().count();
                let place = Origin::path(&*path).line(line.number).char_column(column);
                title.element(place).element(Level::NOTE.message(&*mistake.label))
            } else {
                let snippet = Snippet::source(line.text).line_start(line.number).path(&*path);
                let mark = AnnotationKind::Primary.span(line.span).label(&*mistake.label);
                title.element(snippet.annotation(mark))
            };
            let group =
                group.elements(mistake.help.iter().map(|help| Level::HELP.message(&**help)));
            push_rendered(&mut out, group, color);
        }
        if self.list.len() > SHOWN {
            write!(out, "and {} more\n\n", self.list.len() - SHOWN)
                .expect("a String takes everything");
        }
        writeln!(out, "{self}").expect("a String takes everything");
        out
    }
}

/// A title and what to do, for a mistake that has no place in a file.
pub(super) fn render_without_place(
    code: &'static Code,
    what: &str,
    help: &[String],
    color: bool,
) -> String {
    let mut out = String::new();
    let title = Level::ERROR.primary_title(what).id(code.id);
    let help = help.iter().map(|help| Level::HELP.message(&**help));
    push_rendered(&mut out, Group::with_title(title).elements(help), color);
    out.pop();
    out
}

/// Text from the profile as a message quotes it: on one line, and not too long.
pub fn quoted(text: &str) -> String {
    const LONGEST: usize = 40;
    let cut = text.char_indices().nth(LONGEST).map(|(at, _)| &text[..at]);
    match cut {
        Some(cut) => format!("`{}...`", cut.escape_debug()),
        None => format!("`{}`", text.escape_debug().to_string().replace("\\\"", "\"")),
    }
}

fn push_rendered(out: &mut String, group: Group<'_>, color: bool) {
    let renderer = if color { Renderer::styled() } else { Renderer::plain() };
    let rendered = renderer.render(&[group]);
    for line in rendered.lines() {
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out.push('\n');
}

/// The line of a place.
struct Line<'a> {
    number: usize,
    text: &'a str,
    /// The place within the line, which it doesn't leave.
    span: Range<usize>,
}

impl<'a> Line<'a> {
    fn around(source: &'a str, span: &Range<usize>) -> Self {
        let at = (0..=span.start.min(source.len()))
            .rev()
            .find(|&at| source.is_char_boundary(at))
            .expect("0 is a boundary of every text");
        let start = source[..at].rfind('\n').map_or(0, |newline| newline + 1);
        let length = source[start..].find('\n').unwrap_or(source.len() - start);
        let text = source[start..start + length].trim_end_matches('\r');
        let from = (at - start).min(text.len());
        let to = (from..=text.len().min(span.end.saturating_sub(start)))
            .rev()
            .find(|&to| text.is_char_boundary(to))
            .unwrap_or(from);
        let number = 1 + source[..start].matches('\n').count();
        Self { number, text, span: from..to }
    }
}
