//! Numbers, durations, sizes and words.

use std::ops::{Range, RangeInclusive};
use std::time::Duration;

use toml::de::{DeInteger, DeValue};

use super::super::mistake::{Mistake, quoted};
use super::super::node::Value;
use super::super::suggest::{closest, listed};
use super::super::units;
use super::{About, Check};
use crate::codes;

impl Check<'_> {
    pub(super) fn count(
        &mut self,
        range: RangeInclusive<u64>,
        about: About<'_>,
        number: &DeInteger<'_>,
        span: &Range<usize>,
    ) -> Value {
        match u64::from_str_radix(number.as_str(), number.radix()) {
            Ok(count) if range.contains(&count) => Value::Count(count),
            count => {
                let is_below =
                    count.map_or(number.as_str().starts_with('-'), |n| n < *range.start());
                let limits = [thousands(*range.start()), thousands(*range.end())];
                self.out_of_range(about, span, is_below, limits)
            }
        }
    }

    pub(super) fn share(
        &mut self,
        about: About<'_>,
        number: &DeValue<'_>,
        span: &Range<usize>,
    ) -> Value {
        let share = match number {
            DeValue::Float(float) => float.as_str().parse::<f64>().ok(),
            DeValue::Integer(integer) => integer.as_str().parse::<f64>().ok(),
            _ => None,
        };
        match share {
            Some(share) if (0.0..=1.0).contains(&share) => Value::Share(share.abs()),
            share => {
                let is_below = share.is_some_and(|share| share < 0.0);
                self.out_of_range(about, span, is_below, ["0", "1"].map(str::to_owned))
            }
        }
    }

    pub(super) fn duration(
        &mut self,
        range: RangeInclusive<Duration>,
        about: About<'_>,
        text: &str,
        span: &Range<usize>,
    ) -> Value {
        match units::duration(text) {
            Ok(duration) if range.contains(&duration) => Value::Duration(duration),
            Ok(duration) => {
                let limits = [*range.start(), *range.end()].map(units::write_duration);
                self.out_of_range(about, span, duration < *range.start(), limits)
            }
            Err(cure) => self.unreadable(about, "a duration", text, cure, span),
        }
    }

    pub(super) fn size(
        &mut self,
        range: RangeInclusive<u64>,
        about: About<'_>,
        text: &str,
        span: &Range<usize>,
    ) -> Value {
        match units::size(text) {
            Ok(size) if range.contains(&size) => Value::Count(size),
            Ok(size) => {
                let limits = [*range.start(), *range.end()].map(units::write_size);
                self.out_of_range(about, span, size < *range.start(), limits)
            }
            Err(cure) => self.unreadable(about, "a size", text, cure, span),
        }
    }

    pub(super) fn word(
        &mut self,
        words: &'static [&'static str],
        about: About<'_>,
        text: &str,
        span: &Range<usize>,
    ) -> Value {
        if let Some(word) = words.iter().find(|word| **word == text) {
            return Value::Word(word);
        }
        let what = format!("{} is not a word that `{}` knows", quoted(text), about.name);
        let mut mistake = Mistake::new(&codes::UNKNOWN_WORD, span.clone(), what)
            .label(if words.len() == 1 { "there is only one" } else { "not one of them" });
        if let Some(meant) = closest(text, words.iter().copied()) {
            mistake = mistake.help(format!("did you mean `{meant}`?"));
        }
        let known = listed(words.iter().copied(), "or");
        self.report(mistake.help(format!("`{}` is {known}", about.name)))
    }

    fn out_of_range(
        &mut self,
        about: About<'_>,
        span: &Range<usize>,
        is_below: bool,
        [min, max]: [String; 2],
    ) -> Value {
        let limit = if is_below { format!("at least {min}") } else { format!("at most {max}") };
        let what = format!("`{}` is out of range", about.name);
        self.report(
            Mistake::new(&codes::OUT_OF_RANGE, span.clone(), what)
                .label(limit)
                .help(format!("for example `{}`", about.sample)),
        )
    }

    fn unreadable(
        &mut self,
        about: About<'_>,
        what: &str,
        text: &str,
        cure: String,
        span: &Range<usize>,
    ) -> Value {
        let title = format!("`{}` can't be read as {what}", about.name);
        let label = format!("{} is not {what}", quoted(text));
        self.report(
            Mistake::new(&codes::UNREADABLE_AMOUNT, span.clone(), title).label(label).help(cure),
        )
    }
}

/// `1,000,000`.
pub(in crate::profile) fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}
