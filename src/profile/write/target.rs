//! What is drilled, through which wires, and as whom. Whatever came from the environment is written
//! as `${NAME}`.

use std::net::SocketAddr;

use super::super::model::{Profile, Request};
use super::super::target::{Launched, Postgres, Redis, Secret, Statements, Target, Wires};
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
    if let Some(Postgres { url, proxy }) = &profile.postgres {
        header(out, "[postgres]");
        line(out, "url", Some(secret(url)));
        line(out, "proxy", proxy.map(address));
    }
    redis(out, &profile.redis);
    if let Some(payments) = &profile.payments {
        header(out, "[payments]");
        line(out, "url", Some(secret(&payments.url)));
        line(out, "proxy", Some(address(payments.proxy)));
    }
    wires(out, &profile.wires);
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
        ("proxies", Some(launched.proxies.to_string())),
    ])
}

fn redis(out: &mut String, redis: &Redis) {
    if *redis != Redis::default() {
        header(out, "[redis]");
        line(out, "url", redis.url.as_ref().map(secret));
        line(out, "proxy", redis.proxy.map(address));
        line(out, "idempotency-keys", redis.idempotency_keys.as_deref().map(text));
        line(out, "lock-keys", redis.lock_keys.as_deref().map(text));
    }
}

fn wires(out: &mut String, wires: &Wires) {
    if *wires != Wires::default() {
        let roles = wires.roles.iter().map(|(step, role)| (step, Some(text(role.name()))));
        header(out, "[wires]");
        line(out, "roles", (!wires.roles.is_empty()).then(|| inline(roles)));
        line(out, "listen-on", (!wires.listen_on.is_empty()).then(|| texts(&wires.listen_on)));
    }
}

fn address(address: SocketAddr) -> String {
    text(&address.to_string())
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
