//! What an HTTP connection says, through everything that its messages can be asked.

use dupeproof::wire::http::{Message, Replies, Reply, Request, Requests};
use dupeproof::wire::{Mark, Scanner};

use super::link::Talk;
use super::told::Told;

/// As much as is kept of a body.
const MOST_OF_A_BODY: usize = 4096;

#[derive(Default)]
pub struct Http;

impl Talk for Http {
    type Requests = Requests;
    type Replies = Replies;

    fn asked(&mut self, mark: &Mark<Message<'_>>, replies: &mut Replies) -> Told {
        match mark {
            Mark::Known(message) => {
                let request = Request::of(message).expect("a head that is known can be read");
                let before = replies.position();
                // One that waits too long gives the replies up, which pass all the same.
                let _ = replies.owe(request.method);
                assert_eq!(replies.position(), before);
                asked(message)
            }
            Mark::Ended { frame, .. } => {
                assert!(!frame.is_last(), "only a reply agrees to another protocol");
                asked(frame)
            }
            Mark::Begun { .. } | Mark::Opaque { .. } => Told::default(),
        }
    }

    fn answered(&mut self, mark: &Mark<Message<'_>>, requests: &mut Requests) -> Told {
        match mark {
            Mark::Known(message) => answered(message),
            Mark::Ended { frame, .. } => {
                if frame.is_last() {
                    requests.give_up();
                }
                answered(frame)
            }
            Mark::Begun { .. } | Mark::Opaque { .. } => Told::default(),
        }
    }
}

fn asked(message: &Message<'_>) -> Told {
    let mut told = told(message);
    let request = Request::of(message).expect("a head that is known can be read");
    told.bytes("method", request.method.as_bytes());
    told.bytes("target", request.target.as_bytes());
    told
}

fn answered(message: &Message<'_>) -> Told {
    let mut told = told(message);
    told.add("reply", Reply::of(message).expect("a head that is known can be read"));
    told
}

fn told(message: &Message<'_>) -> Told {
    let mut told = Told::of(message.start);
    told.part("body", message.body(), MOST_OF_A_BODY);
    told.add("is_last", message.is_last());
    told
}
