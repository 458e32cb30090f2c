//! Texts and templates, with places inside of them.
//!
//! Only templates take from the environment. What a request carries is known to be secret
//! everywhere; a title, a column or a word ends up in results, so a `${NAME}` in one is refused.

use std::ops::Range;

use super::super::mistake::{Mistake, quoted};
use super::super::node::Value;
use super::super::place::Places;
use super::super::scan;
use super::super::shape::TextRule;
use super::super::suggest::{closest, listed};
use super::super::template::{Hole, TemplateMistake, TemplateMistakeKind, TextTemplate};
use super::{About, Check};
use crate::codes;

impl Check<'_> {
    pub(super) fn text(
        &mut self,
        rule: &'static TextRule,
        about: About<'_>,
        text: &str,
        span: &Range<usize>,
    ) -> Value {
        if let Some(range) = scan::variable(text) {
            let what = format!("`{}` can't take from the environment", about.name);
            let place = Places::of(self.source, span, text).part(&range);
            return self.report(
                Mistake::new(&codes::VARIABLE, place, what)
                    .label("this value would show up in results")
                    .help("only the path, headers and body of a request may")
                    .help("write `$${` if you mean the text `${`"),
            );
        }
        if self.breaks(rule, about, text, span) {
            return Value::Broken;
        }
        Value::Text(text.replace("$${", "${"))
    }

    /// Checks a template; values in a JSON body have no rule.
    pub(super) fn template(
        &mut self,
        rule: Option<&'static TextRule>,
        about: About<'_>,
        text: &str,
        span: &Range<usize>,
    ) -> Value {
        let is_broken = rule.is_some_and(|rule| self.breaks(rule, about, text, span));
        match TextTemplate::read(text, self.env) {
            Ok(_) if is_broken => Value::Broken,
            Ok(template) => Value::Template(template),
            Err(mistakes) => {
                let places = Places::of(self.source, span, text);
                for mistake in mistakes {
                    let place = places.part(&mistake.range);
                    self.report(in_template(about, &mistake, place));
                }
                Value::Broken
            }
        }
    }

    /// Reports what is wrong with a text, if anything is.
    fn breaks(
        &mut self,
        rule: &'static TextRule,
        about: About<'_>,
        text: &str,
        span: &Range<usize>,
    ) -> bool {
        let Some(problem) = (rule.problem)(text) else { return false };
        let found = if text.is_empty() { String::new() } else { format!(", not {}", quoted(text)) };
        let what = format!("`{}` must be {}{found}", about.name, rule.wanted);
        let place = Places::of(self.source, span, text).part(&problem.range);
        let mistake = Mistake::new(rule.code, place, what).label(problem.label);
        self.report(mistake.help(problem.help));
        true
    }
}

/// A mistake in a template as one of the profile.
fn in_template(about: About<'_>, mistake: &TemplateMistake, place: Range<usize>) -> Mistake {
    let written = mistake.written.as_str();
    let hole = || closest(written, Hole::ALL.map(Hole::word));
    match mistake.kind {
        TemplateMistakeKind::Brace => Mistake::new(
            &codes::TEMPLATE,
            place,
            format!("a brace stands alone in `{}`", about.name),
        )
        .label(&*mistake.what)
        .help(format!("holes are {}", listed(holes().iter().map(String::as_str), "and"))),
        TemplateMistakeKind::Hole => {
            let what = format!("unknown hole {} in `{}`", quoted(&braced(written)), about.name);
            let told = Mistake::new(&codes::TEMPLATE, place, what)
                .label("a request can't be filled with this");
            let told = match hole() {
                Some(meant) => told.help(format!("did you mean `{}`?", braced(meant))),
                None => told,
            };
            told.help(format!("holes are {}", listed(holes().iter().map(String::as_str), "and")))
        }
        TemplateMistakeKind::Variable => {
            let told = Mistake::new(&codes::VARIABLE, place, &*mistake.what)
                .label(format!("`{}` needs its value", about.name));
            match Hole::ALL.into_iter().find(|hole| hole.word() == written) {
                Some(hole) => {
                    told.help(format!("without the `$` it is a hole: `{}`", braced(hole.word())))
                }
                None => told
                    .help(format!("export `{written}` as one line of text before the run"))
                    .help(format!("write `$${}` for the text `${0}`", braced(written))),
            }
        }
        TemplateMistakeKind::VariableName => Mistake::new(&codes::VARIABLE, place, &*mistake.what)
            .label("`${NAME}` takes from the environment")
            .help("write `$${` for the text `${`"),
    }
}

fn holes() -> [String; Hole::ALL.len()] {
    Hole::ALL.map(|hole| braced(hole.word()))
}

fn braced(name: &str) -> String {
    format!("{{{name}}}")
}
