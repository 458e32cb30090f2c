//! Texts that may take from the environment: URLs, users, the environment of a launched target.
//!
//! What they hold afterwards is never shown: a message about one quotes what stands in the file.

use std::ops::Range;

use super::super::mistake::Mistake;
use super::super::node::Value;
use super::super::place::Places;
use super::super::scan::{Token, variables};
use super::super::shape::TextRule;
use super::super::target::Secret;
use super::super::template::{TemplateMistake, TemplateMistakeKind, look_up};
use super::text::in_template;
use super::{About, Check};

impl Check<'_> {
    pub(super) fn secret(
        &mut self,
        rule: &'static TextRule,
        about: About<'_>,
        text: &str,
        span: &Range<usize>,
    ) -> Value {
        let (tokens, mut mistakes) = variables(text);
        let (mut value, mut takes) = (String::new(), false);
        for token in tokens {
            match token {
                Token::Text(piece) => value.push_str(piece),
                Token::Variable(name, range) => {
                    takes = true;
                    match look_up(name, self.env) {
                        Ok(variable) => value.push_str(&variable.value),
                        Err(what) => mistakes.push(TemplateMistake {
                            range,
                            what,
                            written: name.to_owned(),
                            kind: TemplateMistakeKind::Variable,
                        }),
                    }
                }
                Token::Hole(hole) => unreachable!("no holes are looked for, as {}", hole.word()),
            }
        }
        if !mistakes.is_empty() {
            mistakes.sort_by_key(|mistake| mistake.range.start);
            let places = Places::of(self.source, span, text);
            for mistake in mistakes {
                let place = places.part(&mistake.range);
                self.report(in_template(about, &mistake, place));
            }
            return Value::Broken;
        }
        if !takes && self.breaks(rule, about, text, span) {
            return Value::Broken;
        }
        if takes && (rule.problem)(&value).is_some() {
            let what = format!("`{}` must be {}", about.name, rule.wanted);
            return self.report(
                Mistake::new(rule.code, span.clone(), what)
                    .label("what the environment has for this isn't")
                    .help(format!("for example `{}`", about.sample)),
            );
        }
        Value::Secret(Secret::new(value, text.to_owned()))
    }
}
