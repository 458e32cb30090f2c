//! Headers that don't belong to the intent, in another form: what a second browser, a proxy or a
//! rewritten client would change about the same request.

use crate::profile::Request;

use super::dice::{Stream, below, mix, uuid};
use super::message::Message;

const AGENTS: [&str; 4] = [
    "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
    "okhttp/5.1.0",
    "curl/8.14.1",
    "python-requests/2.32.4",
];

const ACCEPTS: [&str; 3] =
    ["application/json", "application/json, text/plain;q=0.5, */*;q=0.1", "*/*;q=0.8"];

/// Changes user agent, accepted types and trace id, the order of all headers and the case of their
/// names. What the profile itself says in a header stays.
pub(super) fn change(request: &Request, message: &mut Message, stream: &mut Stream) {
    let is_given =
        |name: &str| request.headers.iter().any(|(given, _)| given.eq_ignore_ascii_case(name));
    let others = [
        ("User-Agent", AGENTS[below(stream, AGENTS.len())].to_owned()),
        ("Accept", ACCEPTS[below(stream, ACCEPTS.len())].to_owned()),
        ("X-Request-Id", uuid(stream)),
    ];
    for (name, value) in others.into_iter().filter(|(name, _)| !is_given(name)) {
        match message.headers.iter_mut().find(|(given, _)| given == name) {
            Some((_, given)) => *given = value,
            None => message.headers.push((name.to_owned(), value)),
        }
    }
    mix(stream, &mut message.headers);
    for (name, _) in &mut message.headers {
        match below(stream, 3) {
            0 => name.make_ascii_lowercase(),
            1 => name.make_ascii_uppercase(),
            _ => {}
        }
    }
}
