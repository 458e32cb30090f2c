//! `dupeproof shop`: the reference order service alone.

use clap::Args;

use crate::report::format::filled;
use crate::shop::{self, DefectInfo, ShopArgs};
use crate::ui::{self, Exit, Failure};

const WIDTH: usize = 80;
const INDENT: &str = "     ";

#[derive(Debug, Args)]
pub(crate) struct ShopCommand {
    #[command(flatten)]
    shop: ShopArgs,
}

pub(crate) async fn shop(command: ShopCommand) -> Result<Exit, Failure> {
    if command.shop.list_defects {
        ui::result(&list());
        return Ok(Exit::Passed);
    }
    if command.shop.list_strategies {
        ui::result(&fitted(&shop::strategies()));
        return Ok(Exit::Passed);
    }
    match shop::serve(command.shop).await {
        Ok(()) => Ok(Exit::Passed),
        Err(error) if error.is_mistake_of_the_caller() => Err(failure(&error)),
        Err(error) => Err(Failure { exit: Exit::Environment, ..failure(&error) }),
    }
}

fn failure(error: &shop::ShopError) -> Failure {
    let mut failure = Failure::usage(error.to_string(), "See `dupeproof shop --help`.");
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        let told = cause.to_string();
        // Drivers end their own text with that of their cause, or give it once more.
        if failure.because.last().is_none_or(|last| !last.ends_with(&told)) {
            failure.because.push(told);
        }
        source = cause.source();
    }
    failure
}

fn list() -> String {
    let entries: Vec<String> = shop::defects().iter().map(entry).collect();
    entries.join("\n")
}

/// A defect by its id or its switch, told; `None` for anything else.
pub(super) fn defect(name: &str) -> Option<String> {
    let named = |info: &&DefectInfo| info.id.eq_ignore_ascii_case(name) || info.switch == name;
    shop::defects().iter().find(named).map(entry)
}

/// A defect as a paragraph that fits a terminal.
fn entry(defect: &DefectInfo) -> String {
    let partners: Vec<_> = defect.partners.iter().map(ToString::to_string).collect();
    let together =
        (!partners.is_empty()).then(|| format!("shows together with: {}", partners.join(", ")));
    let needs = defect.needs.iter().map(|need| format!("needs {}", need.text()));
    let told = [defect.does.to_owned()].into_iter().chain(together).chain(needs);
    let mut out = format!("{}  {}\n", defect.id, defect.switch);
    for sentence in told.chain([format!("found by: {}", defect.finds)]) {
        for line in filled(&sentence, WIDTH - INDENT.len()) {
            out.push_str(&format!("{INDENT}{line}\n"));
        }
    }
    out
}

/// The same lines, those that are too long continued below.
fn fitted(text: &str) -> String {
    let mut out = String::new();
    for line in text.lines() {
        let indent = &line[..line.len() - line.trim_start().len()];
        for piece in filled(line.trim_start(), WIDTH - indent.len()) {
            out.push_str(&format!("{indent}{piece}\n"));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_line_is_wider_than_a_terminal() {
        for text in [list(), fitted(&shop::strategies())] {
            assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
        }
    }
}
