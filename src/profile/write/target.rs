//! What is drilled, and as whom. Whatever came from the environment is written as `${NAME}`.

use super::super::model::{Profile, Request};
use super::super::target::{Launched, Secret, Statements, Target};
use super::sections::{header, line};
use super::values::{duration, inline, list, quoted, text, texts};

pub(super) fn target(out: &mut String, profile: &Profile) {
    match &profile.target {
        Target::Lab => {}
        Target::Attached(attached) => {
            header(out, "[target]");
            line(out, "urls", Some(secrets(&attached.urls)));
            line(out, "ready", attached.ready.as_deref().map(text));
        }
        Target::Launched(launched) => {
            header(out, "[target]");
            line(out, "launch", Some(launch(launched)));
        }
    }
    if let Some(postgres) = &profile.postgres {
        header(out, "[postgres]");
        line(out, "url", Some(secret(&postgres.url)));
    }
    actor(out, profile);
    for (name, statements) in [("[setup]", &profile.setup), ("[teardown]", &profile.teardown)] {
        self::statements(out, name, statements);
    }
}

fn launch(launched: &Launched) -> String {
    let env = launched.env.iter().map(|(name, value)| (name, Some(secret(value))));
    inline([
        ("command", Some(texts(&launched.command))),
        ("instances", Some(launched.instances.to_string())),
        ("env", Some(inline(env))),
        ("folder", launched.folder.as_deref().map(text)),
        ("ready", Some(text(launched.ready.as_deref().unwrap_or("port")))),
        ("ready-within", Some(duration(launched.ready_within))),
    ])
}

fn actor(out: &mut String, profile: &Profile) {
    let actor = &profile.actor;
    let named = |index: usize| profile.requests.get(index).map(|Request { name, .. }| text(name));
    let login = actor.login.as_ref().map(|login| {
        inline([
            ("request", named(login.request)),
            ("token-at", login.token_at.as_deref().map(text)),
        ])
    });
    let users = (!actor.users.is_empty()).then(|| secrets(&actor.users));
    let products =
        (!actor.products.is_empty()).then(|| list(actor.products.iter().map(ToString::to_string)));
    if login.is_some() || users.is_some() || products.is_some() {
        header(out, "[actor]");
        line(out, "login", login);
        line(out, "users", users);
        line(out, "products", products);
    }
}

fn statements(out: &mut String, name: &str, statements: &Statements) {
    if !statements.sql.is_empty() {
        header(out, name);
        line(out, "sql", Some(texts(&statements.sql)));
    }
}

/// As it stood in the profile, escapes and all.
fn secret(secret: &Secret) -> String {
    quoted(secret.written())
}

fn secrets(secrets: &[Secret]) -> String {
    list(secrets.iter().map(secret))
}
