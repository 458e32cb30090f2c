//! Logins: what a target gives a user before its first request, a token or cookies.
//!
//! Nothing of it is written down. A login is nobody's intent and no attempt; what it answered shows
//! in an error only after everything that was sent with it has been taken out.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use serde_json::Value;
use tokio::task::JoinSet;

use crate::history::{Intent, IntentId, KeyForm, PhaseId};
use crate::profile::{Login, Request};

use super::desk::Desk;
use super::error::LoadError;
use super::http::Reply;
use super::message::{Rendered, Source};
use super::outcome::scalar;
use super::run::Load;
use super::tasks::joined;

/// Logins at once.
const AT_ONCE: usize = 64;

/// How much of an answer is told.
const LONGEST_TOLD: usize = 200;

/// What a user was given.
#[derive(Clone, Default, PartialEq, Eq)]
pub(super) struct Session {
    pub token: Option<String>,
    cookies: String,
    secrets: Vec<String>,
}

impl std::fmt::Debug for Session {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("Session(...)")
    }
}

/// Sessions by user.
pub(super) type Sessions = HashMap<String, Arc<Session>>;

impl Session {
    /// What the `Cookie` header says, if anything.
    pub fn cookies(&self) -> Option<&str> {
        Some(self.cookies.as_str()).filter(|cookies| !cookies.is_empty())
    }

    /// Values that must not be written down.
    pub fn secrets(&self) -> &[String] {
        &self.secrets
    }

    fn read(reply: &Reply, login: &Login) -> Result<Self, String> {
        let cookies: Vec<_> = reply
            .headers()
            .filter(|(name, _)| name.eq_ignore_ascii_case("set-cookie"))
            .filter_map(|(_, value)| value.split(';').next())
            .map(|pair| pair.trim().to_owned())
            .filter(|pair| pair.contains('='))
            .collect();
        let token = match &login.token_at {
            None if cookies.is_empty() => return Err("it sets no cookie".to_owned()),
            None => None,
            Some(pointer) => {
                let body: Option<Value> = serde_json::from_slice(&reply.body).ok();
                let token = body.as_ref().and_then(|body| body.pointer(pointer)).and_then(scalar);
                let token = token.filter(|token| !token.is_empty());
                Some(token.ok_or_else(|| format!("its body has no token at {pointer}"))?)
            }
        };
        let values = cookies.iter().filter_map(|pair| pair.split_once('=')).map(|pair| pair.1);
        let secrets = values.chain(token.as_deref()).filter(|value| value.len() > 3);
        let secrets = secrets.map(str::to_owned).collect();
        Ok(Self { token, cookies: cookies.join("; "), secrets })
    }
}

impl Load {
    /// Logs in those of the users who haven't been yet.
    pub(super) async fn log_in(
        &mut self,
        desk: &Arc<Desk>,
        phase: PhaseId,
        users: impl IntoIterator<Item = String>,
    ) -> Result<(), LoadError> {
        let Some(login) = self.settings.actor.login.clone() else { return Ok(()) };
        let mut seen = HashSet::new();
        let mut waiting: Vec<_> = users
            .into_iter()
            .filter(|user| !self.sessions.contains_key(user) && seen.insert(user.clone()))
            .collect();
        waiting.reverse();
        let mut at_work = JoinSet::new();
        loop {
            while at_work.len() < AT_ONCE
                && !desk.stop.is_cancelled()
                && let Some(user) = waiting.pop()
            {
                let sent = self.login_request(phase, &login, &user)?;
                let target = self.sessions.len() + at_work.len();
                let (desk, login) = (Arc::clone(desk), login.clone());
                at_work.spawn(async move {
                    let end = one(&desk, &login, target % desk.peers.len(), &sent).await;
                    (user, end)
                });
            }
            let Some((user, end)) = at_work.join_next().await.and_then(joined) else {
                return Ok(());
            };
            if end.is_err() && desk.stop.is_cancelled() {
                return Ok(());
            }
            let shown = || self.cast.shown(&user);
            let session = end.map_err(|answer| LoadError::Login { user: shown(), answer })?;
            let hide = |secret: &String| self.settings.recorder.hide(secret, "(login)");
            session.secrets.iter().for_each(hide);
            self.sessions.insert(user, Arc::new(session));
        }
    }

    fn login_request(
        &self,
        phase: PhaseId,
        login: &Login,
        user: &str,
    ) -> Result<LoginRequest, LoadError> {
        let request = self.request(login.request)?;
        let intent = nobody(phase, request, user);
        let uuid = self.dice.uuid(phase, u32::MAX - self.sessions.len() as u32);
        let rule = &self.settings.contract.key;
        let source = Source {
            request,
            rule,
            intent: &intent,
            uuid: &uuid,
            session: None,
            token: None,
            mutation: None,
        };
        let body = source.body();
        let mut sent = Vec::new();
        body.iter().for_each(|body| texts(&body.value(), &mut sent));
        let message = source.message(body.map(|body| body.text()))?;
        sent.extend(message.headers.iter().map(|(_, value)| value.clone()));
        sent.retain(|text| text.len() > 3 && text != user);
        Ok(LoginRequest { rendered: message.render(request, self.targets())?, sent })
    }
}

/// A login, ready to be sent.
struct LoginRequest {
    rendered: Rendered,
    /// Texts in it that an answer might repeat.
    sent: Vec<String>,
}

/// Logs one user in; a failure is told as the answer was, without what was sent.
async fn one(
    desk: &Desk,
    login: &Login,
    target: usize,
    request: &LoginRequest,
) -> Result<Session, String> {
    let exchange = async {
        let mut connection = desk.open(target).await?;
        connection.prepare(&request.rendered[target])?;
        let mut reader = desk.reader();
        let waiting = connection.receive(desk.clock, &mut reader);
        let patience = desk.client.timeout;
        let late = |_| format!("no complete reply within {patience:?}");
        tokio::time::timeout(patience, waiting).await.map_err(late)?
    };
    let reply = tokio::select! {
        biased;
        () = desk.stop.cancelled() => return Err(super::desk::INTERRUPTED.to_owned()),
        reply = exchange => reply?,
    };
    if !(200..400).contains(&reply.status) {
        let told = masked(&String::from_utf8_lossy(&reply.body), &request.sent);
        return Err(format!("{} {}", reply.status, cut(&told)).trim_end().to_owned());
    }
    Session::read(&reply, login).map_err(|why| format!("{}, but {why}", reply.status))
}

/// A text without these values.
pub(super) fn masked(text: &str, secrets: &[String]) -> String {
    if secrets.is_empty() {
        return text.to_owned();
    }
    secrets.iter().fold(text.to_owned(), |text, secret| text.replace(secret.as_str(), "***"))
}

fn cut(text: &str) -> String {
    text.chars().filter(|letter| !letter.is_control()).take(LONGEST_TOLD).collect()
}

/// All texts in a JSON value.
fn texts(value: &Value, out: &mut Vec<String>) {
    match value {
        Value::String(text) => out.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| texts(item, out)),
        Value::Object(fields) => fields.values().for_each(|value| texts(value, out)),
        _ => {}
    }
}

/// A stand-in, since a login carries nobody's intent.
fn nobody(phase: PhaseId, request: &Request, user: &str) -> Intent {
    Intent {
        id: IntentId(u32::MAX),
        phase,
        user: user.to_owned(),
        key: String::new(),
        product: 0,
        quantity: 0,
        fingerprint: String::new(),
        request: request.name.clone(),
        entity: None,
        key_form: KeyForm::Good,
    }
}
