//! Requests and replies of a Redis connection become steps.
//!
//! Reply k answers request k; pushes answer nothing. What isn't answered one by one (a subscription,
//! MONITOR, replication, replies switched off) ends the pairing: what was asked before it is still paired.

use std::collections::VecDeque;
use std::hash::{BuildHasher, Hasher};
use std::rc::Rc;

use foldhash::fast::FixedState;

use crate::history::{RunTime, Step, StepEnd, Wire};
use crate::wire::Part;
use crate::wire::exchanges::ExchangeId;
use crate::wire::notes::Notes;
use crate::wire::rules::{Carried, Decided};
use crate::wire::tokens::Among;

use super::fail;
use super::meaning::{Meaning, meaning};
use super::{Answer, Reply, Request};

/// Commands that keep the connection going, or say something about it.
const NOISE: [&str; 22] = [
    "HELLO",
    "AUTH",
    "CLIENT",
    "SELECT",
    "PING",
    "QUIT",
    "RESET",
    "INFO",
    "COMMAND",
    "SCRIPT",
    "ECHO",
    "CONFIG",
    "READONLY",
    "READWRITE",
    "CLUSTER",
    "UNWATCH",
    "MULTI",
    "TIME",
    "ROLE",
    "MEMORY",
    "LATENCY",
    "ACL",
];

/// What a reply is owed for.
#[derive(Clone, Copy, Debug)]
enum Owed {
    Step(ExchangeId),
    /// So many requests of which nothing is kept.
    Nothing(u64),
}

#[derive(Debug, Default)]
pub(super) struct Tracker {
    owed: VecDeque<Owed>,
    began: RunTime,
    /// The step of the request that is being read.
    current: Option<ExchangeId>,
    /// An error that is to take the place of its reply.
    failing: Option<Decided>,
    /// Whether the request that is being read was told before any word of it came.
    is_undecided: bool,
    /// What comes isn't paired any more.
    is_over: bool,
    /// The MULTI that the connection is in, counted from 1.
    multi: Option<u32>,
    multis: u32,
}

impl Tracker {
    /// A request begins.
    pub(super) fn begins(&mut self, now: RunTime) {
        self.began = now;
        self.current = None;
        self.failing = None;
    }

    /// It is known what it asks for.
    pub(super) fn known(&mut self, request: &Request<'_>, notes: &mut Notes) {
        if self.is_over {
            return;
        }
        if request.arguments() == 0 {
            // Redis ignores it without a reply, if no word comes.
            self.is_undecided = !request.is_whole;
            return;
        }
        let Some(verb) = request.verb() else {
            notes.unnamed();
            return self.owe_nothing();
        };
        if ends_pairing(verb, request) {
            self.is_over = true;
            return notes.stream();
        }
        if verb == "MULTI" {
            self.multis += 1;
            self.multi = Some(self.multis);
        }
        let multi = self.multi;
        if matches!(verb, "EXEC" | "DISCARD" | "RESET") {
            self.multi = None;
        }
        if verb == "CLIENT" || verb == "HELLO" {
            driver(request, notes);
        }
        if NOISE.contains(&verb) {
            notes.noise();
            return self.owe_nothing();
        }
        let identity = identity(request);
        let (step, among) = self.step(verb, request, multi, notes);
        match notes.exchanges.open(step, identity) {
            Some(id) => {
                notes.exchanges.is_among(id, among);
                self.mark_resent(id, identity, notes);
                self.current = Some(id);
                self.owed.push_back(Owed::Step(id));
                if notes.is_watchful() {
                    self.failing = asked(id, request, notes);
                }
            }
            None => {
                notes.count(|counts| counts.lost += 1);
                self.owe_nothing();
            }
        }
    }

    /// All of it has come.
    pub(super) fn ended(&mut self, request: &Request<'_>, at: u64, notes: &mut Notes) {
        if std::mem::take(&mut self.is_undecided) && request.arguments() > 0 {
            notes.unnamed();
            self.owe_nothing();
        }
        if let Some(sha1) = request.script()
            && let Some(source) = source(request)
        {
            let is_new = notes.observer.scripts.borrow_mut().learn(sha1, source).is_some();
            if is_new && let Some(id) = self.current {
                self.name_script(id, request, notes);
            }
        }
        if let Some(id) = self.current.take() {
            notes.exchanges.request_ends(id, at);
            if let Some(decided) = self.failing.take() {
                fail::request(decided, id, request.start..at, notes);
            }
        }
    }

    /// Whether all of the request has to come before any of it leaves.
    pub(super) const fn waits_for_the_end(&self) -> bool {
        self.failing.is_some()
    }

    /// A reply, or a push, begins.
    pub(super) fn reply_begins(&self, at: u64, notes: &mut Notes) {
        if let Some(Owed::Step(id)) = self.owed.front() {
            notes.reply_begins(*id, at);
        }
    }

    /// A reply has come as a whole.
    pub(super) fn answered(&mut self, reply: &Reply<'_>, at: u64, notes: &mut Notes) {
        if reply.is_push() {
            notes.orders.replies.undecided = None;
            return;
        }
        let id = match self.owed.front_mut() {
            Some(Owed::Step(id)) => *id,
            Some(Owed::Nothing(count)) => {
                *count -= 1;
                if *count == 0 {
                    self.owed.pop_front();
                }
                return;
            }
            None => return,
        };
        self.owed.pop_front();
        let answer = reply.answer();
        let (end, text) = told(&answer, notes);
        let now = notes.now;
        notes.exchanges.reply_ends(id, at);
        if matches!(answer, Answer::Error { code: b"NOSCRIPT", .. }) {
            // The driver sends the source next.
            notes.exchanges.is_noise(id);
            notes.reply_is_known(id);
            return notes.noise();
        }
        if let Some(exchange) = notes.exchanges.get(id) {
            exchange.step.answered = Some(now);
            exchange.step.end = end;
            exchange.step.answer = Some(text);
        }
        fail::reply(id, at, notes);
        notes.reply_is_known(id);
    }

    fn owe_nothing(&mut self) {
        match self.owed.back_mut() {
            Some(Owed::Nothing(count)) => *count += 1,
            _ => self.owed.push_back(Owed::Nothing(1)),
        }
    }

    fn mark_resent(&self, id: ExchangeId, identity: u64, notes: &mut Notes) {
        if notes.observer.orphans.borrow().is_empty() {
            return;
        }
        let instance = notes.instance();
        let resent = notes.observer.orphans.borrow_mut().take(instance, identity);
        if let Some(exchange) = notes.exchanges.get(id) {
            exchange.step.resent = resent;
        }
    }

    fn step(
        &self,
        verb: &str,
        request: &Request<'_>,
        multi: Option<u32>,
        notes: &mut Notes,
    ) -> (Step<Rc<str>>, Among) {
        let observer = &notes.observer;
        let key = request.keys().next().and_then(Part::text);
        let texts = texts(request);
        let named = notes.name(texts);
        let Meaning { object, role, token, lease_ms, compares } =
            meaning(verb, request, key, named.intent, observer);
        // One name for a script, whether its source or its hash was sent.
        let verb = match verb {
            "EVALSHA" => "EVAL",
            "EVALSHA_RO" => "EVAL_RO",
            other => other,
        };
        let step = Step {
            object: object.map(|object| observer.word(&object)),
            subject: key.map(Rc::from),
            role,
            intent: named.intent,
            product: named.product,
            transaction: multi,
            token,
            lease_ms,
            compares,
            ..Step::begun(Wire::Redis, notes.link(), observer.word(verb), self.began)
        };
        (step, named.among)
    }

    /// The source has come only now: what the step is for follows from it.
    fn name_script(&self, id: ExchangeId, request: &Request<'_>, notes: &mut Notes) {
        let observer = Rc::clone(&notes.observer);
        let key = request.keys().next().and_then(Part::text);
        let Some(exchange) = notes.exchanges.get(id) else { return };
        let means = meaning("EVAL", request, key, exchange.step.intent, &observer);
        exchange.step.object = means.object.map(|object| observer.word(&object));
        exchange.step.role = means.role;
        exchange.step.token = means.token;
        exchange.step.lease_ms = means.lease_ms;
        exchange.step.compares = means.compares;
    }
}

/// The rules are asked about a command.
fn asked(id: ExchangeId, request: &Request<'_>, notes: &mut Notes) -> Option<Decided> {
    let values: Vec<&[u8]> = texts(request).collect();
    let keys: Vec<&[u8]> = request.keys().map(|key| key.bytes).collect();
    let carried = Carried { values: &values, keys: &keys, ..Carried::default() };
    notes.step_is_asked(id, request.start, &carried)
}

/// Whether replies answer requests no more.
fn ends_pairing(verb: &str, request: &Request<'_>) -> bool {
    let second = || request.argument(1).map(|part| part.bytes.to_ascii_uppercase());
    match verb {
        "SUBSCRIBE" | "PSUBSCRIBE" | "SSUBSCRIBE" | "UNSUBSCRIBE" | "PUNSUBSCRIBE"
        | "SUNSUBSCRIBE" | "MONITOR" | "SYNC" | "PSYNC" => true,
        "CLIENT" => {
            second().as_deref() == Some(b"REPLY")
                && request.argument(2).is_some_and(|part| !part.bytes.eq_ignore_ascii_case(b"ON"))
        }
        _ => false,
    }
}

/// CLIENT SETINFO LIB-NAME, or a name that the client gives itself.
fn driver(request: &Request<'_>, notes: &mut Notes) {
    let is = |place: usize, word: &[u8]| {
        request.argument(place).is_some_and(|part| part.bytes.eq_ignore_ascii_case(word))
    };
    if is(1, b"SETINFO")
        && is(2, b"LIB-NAME")
        && let Some(name) = request.argument(3).and_then(Part::whole_text)
    {
        notes.driver = Some(name.chars().take(64).collect());
    }
}

/// The texts in which words are looked for: all arguments but the verb and the source of a script.
pub(super) fn texts<'a>(request: &Request<'a>) -> impl Iterator<Item = &'a [u8]> + Clone + use<'a> {
    let request = *request;
    let is_script = request.verb().is_some_and(|verb| verb.starts_with("EVAL"));
    let first = if is_script { 3 } else { 1 };
    (first..request.arguments())
        .map_while(move |place| request.argument(place).map(|part| part.bytes))
}

/// Equal for equal requests; EVAL and EVALSHA of one script are equal.
fn identity(request: &Request<'_>) -> u64 {
    let mut hasher = FixedState::with_seed(7).build_hasher();
    if let Some(sha1) = request.script() {
        hasher.write(&sha1);
    } else if let Some(verb) = request.verb() {
        hasher.write(verb.as_bytes());
    }
    for text in texts(request) {
        hasher.write_usize(text.len());
        hasher.write(text);
    }
    hasher.finish()
}

fn source<'a>(request: &Request<'a>) -> Option<&'a str> {
    match request.verb()? {
        "EVAL" | "EVAL_RO" => request.argument(1)?.whole_text(),
        "SCRIPT" => request.argument(2)?.whole_text(),
        _ => None,
    }
}

/// Longer texts are told by their length.
const LONGEST_TOLD: usize = 32;

/// A reply in short.
fn told(answer: &Answer<'_>, notes: &Notes) -> (StepEnd, Rc<str>) {
    let word = |text: &str| notes.observer.word(text);
    let text = |part: Part<'_>, length: u64| match part.whole_text() {
        Some(text) if text.len() <= LONGEST_TOLD => Rc::from(text),
        _ => Rc::from(format!("{length} bytes")),
    };
    let told = match answer {
        Answer::Error { code, .. } => {
            return (StepEnd::Failed, word(&String::from_utf8_lossy(code)));
        }
        Answer::Simple(part) => word(part.text().unwrap_or("text")),
        Answer::Integer(number) => {
            let mut buffer = itoa::Buffer::new();
            let text = buffer.format(*number);
            if text.len() < 4 { word(text) } else { Rc::from(text) }
        }
        Answer::Null => word("nil"),
        Answer::Boolean(flag) => word(if *flag { "true" } else { "false" }),
        Answer::Double(part) | Answer::BigNumber(part) => text(*part, part.bytes.len() as u64),
        Answer::Bulk { length, prefix } => text(*prefix, length.unwrap_or_default()),
        Answer::Verbatim(part) => text(*part, part.bytes.len() as u64),
        Answer::Aggregate { count: Some(count), .. } => word(&format!("{count} values")),
        Answer::Aggregate { count: None, .. } => word("values"),
        Answer::Push { .. } | Answer::Unknown => word("unreadable"),
    };
    (StepEnd::Done, told)
}
