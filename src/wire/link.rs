//! One connection of the target and its counterpart upstream.
//!
//! One task has both sockets and both buffers, so that nothing is locked and a buffer that comes in
//! one read leaves in one write: a write for each frame would be the whole cost of a proxy.
//!
//! A link that doesn't come to its regular end is reset on both sides, also when its task is dropped or
//! panics. An orderly end would make a reply that lasts until the end of its connection look whole.

use std::future::poll_fn;
use std::ops::ControlFlow;
use std::task::{Context, Poll};

use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use super::direction::{Broken, Direction};
use super::event::ProxyEvent;
use super::notes::Notes;
use super::proxies::Upstream;
use super::talk::{Refusal, Talk};

/// A connection that is reset when it is dropped before its end.
struct Socket {
    stream: TcpStream,
    is_over: bool,
}

impl Socket {
    fn new(stream: TcpStream) -> Self {
        // It fails only on a connection that is gone already.
        let _ = stream.set_nodelay(true);
        Self { stream, is_over: false }
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        if !self.is_over {
            // It fails only on a connection that is gone already.
            let _ = self.stream.set_zero_linger();
        }
    }
}

struct Link<T: Talk> {
    client: Socket,
    server: Socket,
    requests: Direction<T::Requests>,
    replies: Direction<T::Replies>,
    talk: T,
    notes: Notes,
}

/// Serves a connection until its end.
pub(super) async fn serve<T: Talk>(client: TcpStream, upstream: Upstream, notes: Notes) {
    let client = Socket::new(client);
    let server = match TcpStream::connect(upstream.address).await {
        Ok(server) => Socket::new(server),
        Err(why) => {
            notes.count(|counts| {
                counts.unreached += 1;
                counts.reset += 1;
            });
            let (link, upstream, why) = (notes.link(), upstream.address, why.to_string());
            return notes.tell(ProxyEvent::Unreached { link, upstream, why });
        }
    };
    let (requests, replies) =
        (Direction::new(Default::default()), Direction::new(Default::default()));
    let mut link = Link { client, server, requests, replies, talk: T::default(), notes };
    match poll_fn(|context| link.poll(context)).await {
        Ok(()) => {
            link.client.is_over = true;
            link.server.is_over = true;
        }
        Err(Broken::Reset) => link.notes.count(|counts| counts.reset += 1),
        Err(Broken::Refused(refusal)) => link.refuse(&refusal).await,
    }
}

impl<T: Talk> Link<T> {
    /// Both directions as far as they go. Ready when nothing more can cross.
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Broken>> {
        let Self { client, server, requests, replies, talk, notes } = self;
        let (client, server) = (&mut client.stream, &mut server.stream);
        let to_server = requests.poll(context, client, server, &mut |codec, count| {
            notes.read();
            notes.count(|counts| counts.client_bytes += count as u64);
            codec.filled(count, &mut |mark| talk.asked(mark, replies.codec.scanner(), notes));
            ControlFlow::Continue(())
        });
        notes.passed_to_server(requests.codec.passed_to());
        if let Poll::Ready(Err(broken)) = to_server {
            return Poll::Ready(Err(broken));
        }
        let to_client = replies.poll(context, server, client, &mut |codec, count| {
            notes.read();
            notes.count(|counts| counts.server_bytes += count as u64);
            let mut decision = ControlFlow::Continue(());
            codec.filled(count, &mut |mark| {
                let now = talk.answered(mark, requests.codec.scanner(), notes);
                if decision.is_continue() {
                    decision = now;
                }
            });
            decision
        });
        notes.passed_to_client(replies.codec.passed_to());
        if let Poll::Ready(Err(broken)) = to_client {
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

    /// Tells the client why, and ends the link. What the server sent last isn't passed on.
    async fn refuse(&mut self, refusal: &Refusal) {
        let told = async {
            self.client.stream.write_all(refusal).await?;
            self.client.stream.shutdown().await
        };
        self.client.is_over = told.await.is_ok();
    }
}
