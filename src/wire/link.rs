//! One connection of the target and its counterpart upstream.
//!
//! One task has both sockets and both buffers, so that nothing is locked and a buffer that comes in
//! one read leaves in one write: a write for each frame would be the whole cost of a proxy.
//!
//! A link that doesn't come to its regular end is reset on both sides, also when its task is dropped or
//! panics. An orderly end would make a reply that lasts until the end of its connection look whole.

use std::future::poll_fn;
use std::ops::ControlFlow;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::history::{FiringEnd, Wire};

use super::codec::Codec;
use super::connect::{Route, Unreached};
use super::counts::Side;
use super::direction::{Broken, Come, Direction};
use super::event::ProxyEvent;
use super::fate::{Fate, drain};
use super::greeting::Greeting;
use super::mark::{Mark, Scanner};
use super::notes::Notes;
use super::obey::{Gone, Obeyed};
use super::offer::Offer;
use super::postgres::refusal;
use super::stream::{OverTcp, ServerStream};
use super::talk::{Refusal, Talk};

/// A connection that is reset when it is dropped before its end.
struct Socket<S: OverTcp> {
    stream: S,
    is_over: bool,
}

impl<S: OverTcp> Socket<S> {
    fn new(stream: S) -> Self {
        // It fails only on a connection that is gone already.
        let _ = stream.tcp().set_nodelay(true);
        Self { stream, is_over: false }
    }
}

impl<S: OverTcp> Drop for Socket<S> {
    fn drop(&mut self) {
        if !self.is_over {
            // It fails only on a connection that is gone already.
            let _ = self.stream.tcp().set_zero_linger();
        }
    }
}

struct Link<T: Talk> {
    client: Socket<TcpStream>,
    server: Socket<ServerStream>,
    greeting: Greeting,
    offer: Offer,
    requests: Direction<T::Requests>,
    replies: Direction<T::Replies>,
    talk: T,
    notes: Notes,
    /// What a fault has decided for it.
    fate: Option<Fate>,
}

/// Serves a connection until its end.
pub(super) async fn serve<T: Talk>(client: TcpStream, route: Rc<Route>, notes: Notes) {
    let client = Socket::new(client);
    let observer = Rc::clone(&notes.observer);
    if let Some(cut) = observer.cut(notes.door()) {
        cut.kept_one_out();
        if !cut.refuses() {
            cut.healed().await;
        }
        return;
    }
    let server = match route.connect().await {
        Ok(server) => Socket::new(server),
        Err(Unreached { why, cure }) => {
            notes.count(|counts| {
                counts.unreached += 1;
                counts.reset += 1;
            });
            let (link, upstream) = (notes.link(), route.upstream.to_string());
            return notes.tell(ProxyEvent::Unreached { link, upstream, why, cure });
        }
    };
    let (requests, replies) =
        (Direction::new(Default::default()), Direction::new(Default::default()));
    let greeting = Greeting::of(route.wire);
    let offer = Offer::of(route.offers_binding());
    let talk = T::default();
    if notes.is_of_this_epoch() {
        observer.has_connected(notes.door());
    }
    let fate = None;
    let mut link = Link { client, server, greeting, offer, requests, replies, talk, notes, fate };
    poll_fn(|context| {
        observer.runs(link.notes.link(), context.waker());
        Poll::Ready(())
    })
    .await;
    let ended = poll_fn(|context| link.poll(context)).await;
    if link.greeting.is_declined() {
        link.notes.insists();
    }
    match ended {
        Ok(()) => {
            link.client.is_over = true;
            link.server.is_over = true;
            link.notes.left = FiringEnd::ClientLeft;
            link.talk.over(&link.notes);
        }
        Err(Broken::Ordered { is_orderly }) => {
            link.client.is_over = is_orderly;
            link.server.is_over = is_orderly;
        }
        Err(Broken::Reset) => link.notes.count(|counts| counts.reset += 1),
        Err(Broken::Refused(refusal)) => link.refuse(&refusal).await,
    }
}

impl<T: Talk> Link<T> {
    /// As far as it goes. Ready when nothing more can cross.
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Broken>> {
        loop {
            if self.fate.is_some() {
                self.notes.orphan();
                return self.meet_its_fate(context);
            }
            if !self.notes.is_of_this_epoch() {
                self.fate = Some(self.notes.fate_of_the_door());
                continue;
            }
            let flowed = self.flow(context);
            if self.notes.orders.are_none() || matches!(flowed, Poll::Ready(_)) {
                return flowed;
            }
            let gone = Gone {
                client: self.requests.is_all_sent() || self.replies.is_unread(),
                server: self.replies.is_all_sent() || self.requests.is_unread(),
            };
            match self.notes.obey(context, gone) {
                Obeyed::Ends(fate) => self.fate = Some(fate),
                Obeyed::GoesOn => {}
                Obeyed::Nothing if self.is_too_large_to_wait() => {}
                Obeyed::Nothing => return flowed,
            }
        }
    }

    /// What isn't known yet although no more of it comes, or there is no room for it, can't be held. Where
    /// it shares the room with what is held before it, there will be more.
    fn is_too_large_to_wait(&mut self) -> bool {
        let Self { requests, replies, notes, .. } = self;
        let orders = &mut notes.orders;
        let are_too_large = [
            orders.requests.gives_up(requests.is_all_sent(), &mut requests.codec),
            orders.replies.gives_up(replies.is_all_sent(), &mut replies.codec),
        ];
        are_too_large.contains(&true)
    }

    /// Both directions as far as they go.
    fn flow(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Broken>> {
        let Self { client, server, greeting, offer, requests, replies, talk, notes, .. } = self;
        let (client, server) = (&mut client.stream, &mut server.stream);
        requests.codec.set_gate(notes.orders.requests.gate());
        let to_server = requests.poll(context, client, server, &mut |codec, mut come| {
            notes.read();
            let unclear = match greeting.is_over() {
                true => 0,
                false => greet(greeting, codec, &mut come, notes)?,
            };
            notes.count(|counts| counts.client_bytes += come.count as u64);
            notes.orders.requests.passed = codec.passed_to();
            look(codec, come, &mut |mark| talk.asked(mark, replies.codec.scanner(), notes));
            notes.orders.requests.hand_over(codec);
            ControlFlow::Continue(unclear)
        });
        notes.passed_to_server(requests.codec.passed_to());
        if let Poll::Ready(Err(broken)) = to_server {
            notes.left = FiringEnd::ClientLeft;
            return Poll::Ready(Err(broken));
        }
        // Before it has heard the client, no server has anything to say that could come in between.
        ready!(decline(context, client, greeting))?;
        replies.codec.set_gate(notes.orders.replies.gate());
        let to_client = replies.poll(context, server, client, &mut |codec, mut come| {
            notes.read();
            if !offer.is_over() {
                match offer.take(&mut codec.spare()[..come.count], come.is_all) {
                    Some(left) => come.count = left,
                    None => return ControlFlow::Continue(come.count),
                }
            }
            notes.count(|counts| counts.server_bytes += come.count as u64);
            notes.orders.replies.passed = codec.passed_to();
            let mut decision = ControlFlow::Continue(0);
            look(codec, come, &mut |mark| {
                let now = talk.answered(mark, requests.codec.scanner(), notes);
                if decision.is_continue() {
                    decision = now.map_continue(|()| 0);
                }
            });
            notes.orders.replies.hand_over(codec);
            decision
        });
        notes.passed_to_client(replies.codec.passed_to());
        if let Poll::Ready(Err(broken)) = to_client {
            notes.left = FiringEnd::ServerClosed;
            return Poll::Ready(Err(broken));
        }
        match (requests.has_ended(), replies.has_ended()) {
            (true, true) if requests.is_unread() || replies.is_unread() => {
                Poll::Ready(Err(Broken::Reset))
            }
            (true, true) => Poll::Ready(Ok(())),
            _ => Poll::Pending,
        }
    }

    /// The link ends as a fault has it.
    fn meet_its_fate(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Broken>> {
        let Self { client, server, notes, fate, .. } = self;
        match fate {
            None | Some(Fate::Reset) => Poll::Ready(Err(Broken::Ordered { is_orderly: false })),
            Some(Fate::Closing(closing)) => {
                let is_seen = ready!(closing.poll(context, &mut client.stream, &mut server.stream));
                if is_seen && let Some((rule, firing)) = &closing.of {
                    notes.client_is_cut_off(rule, *firing);
                }
                Poll::Ready(Err(Broken::Ordered { is_orderly: true }))
            }
            Some(Fate::Silent(silence)) => {
                if silence.is_over() {
                    notes.is_silent_no_more(silence);
                    return Poll::Ready(Err(Broken::Ordered { is_orderly: false }));
                }
                notes.observer.rules.wait(context.waker());
                // What the client still says is taken, as a network takes what it then loses.
                let _ = drain(context, &mut client.stream);
                Poll::Pending
            }
        }
    }

    /// Tells the client why, and ends the link. What the server sent last isn't passed on.
    async fn refuse(&mut self, refusal: &Refusal) {
        if refusal.is_empty() {
            return;
        }
        let told = async {
            self.client.stream.write_all(refusal).await?;
            self.client.stream.shutdown().await
        };
        self.client.is_over = told.await.is_ok();
    }
}

/// Has the bytes looked at.
fn look<S: Scanner>(codec: &mut Codec<S>, come: Come, seen: &mut dyn FnMut(Mark<S::Frame<'_>>)) {
    codec.filled(come.count, seen);
    if come.is_all {
        codec.ended(seen);
    }
}

/// Takes what is answered here out of a client's first bytes, and gives how many of them are
/// unclear; what is left of `come` passes.
fn greet<S: Scanner>(
    greeting: &mut Greeting,
    codec: &mut Codec<S>,
    come: &mut Come,
    notes: &Notes,
) -> ControlFlow<Refusal, usize> {
    let bytes = &mut codec.spare()[..come.count];
    let mut asked = |kind| notes.frame(Side::Client, kind);
    let Ok(taken) = greeting.take(bytes, come.is_all, &mut asked) else {
        notes.insists();
        return ControlFlow::Break(match greeting.wire() {
            Wire::Postgres => refusal(),
            Wire::Redis | Wire::Http => Refusal::new(),
        });
    };
    bytes.copy_within(taken.answered.., 0);
    let rest = come.count - taken.answered;
    let unclear = if taken.is_unclear { rest } else { 0 };
    come.count = rest - unclear;
    ControlFlow::Continue(unclear)
}

/// Says no to a client that asked for encryption.
fn decline(
    context: &mut Context<'_>,
    client: &mut TcpStream,
    greeting: &mut Greeting,
) -> Poll<Result<(), Broken>> {
    while !greeting.unsaid().is_empty() {
        match ready!(Pin::new(&mut *client).poll_write(context, greeting.unsaid())) {
            Ok(count @ 1..) => greeting.said(count),
            Ok(0) | Err(_) => return Poll::Ready(Err(Broken::Reset)),
        }
    }
    Poll::Ready(Ok(()))
}
