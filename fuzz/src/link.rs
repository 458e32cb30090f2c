//! Both directions of a conversation, and what they tell each other on the way.

use dupeproof::wire::{Mark, Scanner};

use super::script::{Script, Side, Step};
use super::told::Told;
use super::way::{Heard, Way};

/// What the directions of a protocol have to tell each other, as the room's own links do it, and what
/// can be read of its frames. A mark without a frame tells nothing.
pub trait Talk: Default {
    type Requests: Scanner + Default;
    type Replies: Scanner + Default;

    fn asked(
        &mut self,
        mark: &Mark<<Self::Requests as Scanner>::Frame<'_>>,
        replies: &mut Self::Replies,
    ) -> Told;

    fn answered(
        &mut self,
        mark: &Mark<<Self::Replies as Scanner>::Frame<'_>>,
        requests: &mut Self::Requests,
    ) -> Told;

    /// What is left to be told at the end.
    fn end(self) -> Told {
        Told::default()
    }
}

/// What came of a conversation.
#[derive(Debug, PartialEq, Eq)]
struct Outcome {
    requests: Heard,
    replies: Heard,
    end: Told,
}

/// Any script says the same in pieces and at once.
pub fn check<T: Talk>(bytes: &[u8]) {
    let script = Script::of(bytes);
    let (in_pieces, at_once) = (follow::<T>(&script), follow::<T>(&script.whole()));
    assert_eq!(in_pieces, at_once, "any cut says the same");
}

fn follow<T: Talk>(script: &Script) -> Outcome {
    let mut talk = T::default();
    let (capacity, cuts) = (script.capacity, script.cuts);
    let mut requests = Way::new(T::Requests::default(), capacity, cuts);
    let mut replies = Way::new(T::Replies::default(), capacity, cuts);
    let mut side = Side::Client;
    for step in &script.steps {
        match (step, side) {
            (Step::Turn(other), _) => side = *other,
            (Step::Send(bytes), Side::Client) => {
                requests.send(bytes, &mut |mark| talk.asked(mark, replies.scanner()));
            }
            (Step::Send(bytes), Side::Server) => {
                replies.send(bytes, &mut |mark| talk.answered(mark, requests.scanner()));
            }
            (Step::Hold(offset), Side::Client) => requests.hold(*offset),
            (Step::Hold(offset), Side::Server) => replies.hold(*offset),
            (Step::Release, Side::Client) => requests.release(),
            (Step::Release, Side::Server) => replies.release(),
            (Step::Write(most), Side::Client) => requests.write_at_most(*most),
            (Step::Write(most), Side::Server) => replies.write_at_most(*most),
        }
    }
    Outcome { requests: requests.end(), replies: replies.end(), end: talk.end() }
}
