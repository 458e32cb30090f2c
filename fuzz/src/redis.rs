//! What a Redis connection says, through everything that its requests and replies can be asked.

use dupeproof::wire::redis::{Answer, Replies, Reply, Request, Requests};
use dupeproof::wire::{Mark, Part};

use super::link::Talk;
use super::told::Told;

/// As much as is kept of an argument, of all of them, and of a reply.
const MOST_OF_ONE: usize = 1024;
const MOST_OF_ALL: usize = 4096;
/// A script is kept as a whole, up to here.
const LONGEST_SCRIPT: usize = 16 * 1024;
const MOST_ARGUMENTS: usize = 64;

#[derive(Default)]
pub struct Redis;

impl Talk for Redis {
    type Requests = Requests;
    type Replies = Replies;

    fn asked(&mut self, mark: &Mark<Request<'_>>, replies: &mut Replies) -> Told {
        match mark {
            Mark::Known(request) => {
                if matches!(request.verb(), Some("PSYNC" | "SYNC")) {
                    replies.give_up();
                }
                told(request)
            }
            Mark::Ended { frame, .. } => {
                assert!(frame.is_whole);
                told(frame)
            }
            Mark::Begun { .. } | Mark::Opaque { .. } => Told::default(),
        }
    }

    fn answered(&mut self, mark: &Mark<Reply<'_>>, _: &mut Requests) -> Told {
        match mark {
            Mark::Known(reply) | Mark::Ended { frame: reply, .. } => answer(reply),
            Mark::Begun { .. } | Mark::Opaque { .. } => Told::default(),
        }
    }
}

fn told(request: &Request<'_>) -> Told {
    let mut told = Told::of(request.start);
    told.add("is_whole", request.is_whole);
    if request.arguments() == 0 {
        assert!(request.argument(0).is_none() && request.verb().is_none());
        assert!(request.keys().next().is_none() && request.script().is_none());
        return told;
    }
    told.add("verb", request.verb());
    told.add("arguments", request.arguments());
    let mut kept = 0;
    for place in 0..=MOST_ARGUMENTS {
        let Some(argument) = request.argument(place) else { break };
        assert!(place < MOST_ARGUMENTS && place < request.arguments());
        let may_be_script = matches!(request.verb(), Some("EVAL" | "EVAL_RO" | "SCRIPT"))
            && (1..=2).contains(&place);
        if may_be_script {
            told.part("argument", argument, LONGEST_SCRIPT);
            kept += argument.bytes.len().min(MOST_OF_ONE);
        } else {
            kept += argument.bytes.len();
            told.part("argument", argument, MOST_OF_ONE);
        }
    }
    assert!(kept <= MOST_OF_ALL);
    for key in request.keys() {
        told.part("key", key, MOST_OF_ONE);
    }
    told.add("script", request.script());
    let (options, lease) = (request.set_options(), request.lease());
    assert!(options.is_none_or(|options| options.lease == lease));
    told.add("set_options", options);
    told.add("lease", lease);
    told
}

fn answer(reply: &Reply<'_>) -> Told {
    let mut told = Told::of(reply.start);
    told.add("is_push", reply.is_push());
    told.part("prefix", Part::cut(reply.prefix()), MOST_OF_ONE);
    let answer = reply.answer();
    assert_eq!(matches!(answer, Answer::Push { .. }), reply.is_push());
    match answer {
        Answer::Simple(text) => told.part("simple", text, MOST_OF_ONE),
        Answer::Error { code, text } => {
            assert!(text.bytes.starts_with(code));
            told.bytes("code", code);
            told.part("error", text, MOST_OF_ONE);
        }
        Answer::Bulk { length, prefix } => {
            told.add("length", length);
            told.part("bulk", prefix, MOST_OF_ONE);
        }
        Answer::Double(text) | Answer::BigNumber(text) | Answer::Verbatim(text) => {
            told.part("text", text, MOST_OF_ONE);
        }
        Answer::Push { kind: Some(kind) } => told.part("push", kind, MOST_OF_ONE),
        other => told.add("answer", other),
    }
    told
}
