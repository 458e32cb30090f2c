//! Every key of a profile as a page of the documentation, from the description that the check uses.

use std::fmt::Write;

use super::keys::{PROFILE, RULES};
use super::shape::{Field, Presence, Shape, Table};
use super::suggest::listed;
use super::units::{write_duration, write_size};
use super::{check::thousands, presets};

/// `docs/reference/profile.md`.
pub fn reference() -> String {
    let presets = listed(presets::NAMES, "and");
    let mut out = format!(
        "# Profiles\n\n\
         A profile is a TOML file that describes one drill. Every key of it, written by a test from\n\
         the description that reading, mistakes and `schemas/profile.schema.json` follow.\n\n\
         Texts in requests have holes: `{{user}}`, `{{key}}`, `{{product}}`, `{{quantity}}`, `{{uuid}}`,\n\
         `{{order}}` (the entity of a race) and `{{token}}` (of a login, or a submit token); `{{{{` and\n\
         `}}}}` are braces. `${{NAME}}` takes from the environment, in requests, URLs, users and the\n\
         environment of a launched target; `$${{NAME}}` is the text. Secrets come only that way, and are\n\
         written back by name.\n\n\
         The presets of contracts are\n{presets}.\n"
    );
    let mut shown: Vec<&'static str> = Vec::new();
    PROFILE.visit(&mut |table| {
        if !shown.contains(&table.head) {
            shown.push(table.head);
            section(&mut out, table);
        }
    });
    contracts(&mut out);
    rules(&mut out, &mut shown);
    out
}

/// What each preset says, and where the facts come from.
fn contracts(out: &mut String) {
    out.push_str(
        "\n## Presets of contracts\n\n\
         Each says every clause of `[contract]`; a profile overrides them one by one.\n",
    );
    for (name, prose, clauses) in presets::pages() {
        write!(out, "\n### `{name}`\n\n{prose}\n\n```toml\n{}\n```\n", clauses.trim_end())
            .expect("a String takes everything");
    }
}

/// The file that `dupeproof proxy` takes: faults for anybody's steps.
fn rules(out: &mut String, shown: &mut Vec<&'static str>) {
    out.push_str(
        "\n# Rules of a proxy\n\n\
         `dupeproof proxy --rules FILE` breaks steps outside of drills, by the rules of a TOML file: the\n\
         faults above, as far as they need nothing but a proxy. The first rule that fits a step decides.\n",
    );
    RULES.visit(&mut |table| {
        if !shown.contains(&table.head) {
            shown.push(table.head);
            section(out, table);
        }
    });
}

fn section(out: &mut String, table: &Table) {
    let head = table.head.trim_matches('`');
    let head = if head.contains(' ') { head.to_owned() } else { format!("`{head}`") };
    if table.fields.is_empty() {
        writeln!(out, "\n## {head}\n\nIt has no keys: `{{}}`.").expect("a String takes everything");
        return;
    }
    write!(out, "\n## {head}\n\n| key | value | left out | meaning |\n|---|---|---|---|\n")
        .expect("a String takes everything");
    for field in table.fields {
        let cell = |text: String| text.replace('|', "\\|").replace('\n', " ");
        writeln!(
            out,
            "| `{}` | {} | {} | {} |",
            field.name,
            cell(value(&field.shape)),
            cell(left_out(field)),
            cell(meaning(field))
        )
        .expect("a String takes everything");
    }
}

fn left_out(field: &Field) -> String {
    match field.presence {
        Presence::Optional => String::new(),
        Presence::Required => "a mistake".to_owned(),
        Presence::Alternative => "one of these".to_owned(),
        Presence::Default("{}") => "its defaults".to_owned(),
        Presence::Default(literal) if literal.contains('\n') => "the lab's".to_owned(),
        Presence::Default(literal) => format!("`{literal}`"),
    }
}

fn meaning(field: &Field) -> String {
    match field.sample() {
        Some(sample) if !matches!(field.presence, Presence::Default(default) if default == sample) =>
        {
            format!("{} Such as `{sample}`.", field.doc)
        }
        _ => field.doc.to_owned(),
    }
}

fn value(shape: &Shape) -> String {
    match shape {
        Shape::Table(table) => format!("a table, see {}", table.head.replace('`', "")),
        Shape::Map { names, values } => format!("{} each: {}", names.wanted, value(values)),
        Shape::List { items, .. } => format!("a list: {}", value(items)),
        Shape::Text(rule) | Shape::Template(rule) => rule.wanted.to_owned(),
        Shape::Secret(rule) => format!("{}, or `${{NAME}}`", rule.wanted),
        Shape::Word(words) => listed(words.iter().copied(), "or"),
        Shape::WordOr { words, or, .. } => {
            format!("{}, or {}", value(or), listed(words.iter().copied(), "or"))
        }
        Shape::Count { min, max } => {
            format!("a whole number, {} to {}", thousands(*min), thousands(*max))
        }
        Shape::Share => "a number from 0 to 1".to_owned(),
        Shape::Flag => "`true` or `false`".to_owned(),
        Shape::Duration { min, max } => {
            format!("a duration, {} to {}", write_duration(*min), write_duration(*max))
        }
        Shape::Size { min, max } => {
            format!("a size, {} to {}", write_size(*min), write_size(*max))
        }
        Shape::JsonTemplate => "a table or list with holes, sent as JSON".to_owned(),
        Shape::Json => "any value that JSON can carry".to_owned(),
    }
}
