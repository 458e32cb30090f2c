//! The latency that one client finds, in turns over the ways.
//!
//! The scheduler places client, proxy and server anew each time, and a wake-up across CPUs costs about
//! as much as a whole proxy. So what one turn says is a matter of luck: the lower quartile of the
//! turns' medians is what the good placement gives, their median what is usual.

use std::thread;

use crate::client::{Client, Talk};
use crate::figures::quantile;
use crate::ground::pin;
use crate::peers::Way;

const WARM_UP: usize = 300;
const EXCHANGES: usize = 4_000;

/// Microseconds of one turn.
#[derive(Clone, Copy, Debug)]
struct Turn {
    p50: f64,
    p99: f64,
}

pub struct Latencies {
    pub talk: Talk,
    pub is_pinned: bool,
    /// By way.
    turns: [Vec<Turn>; 3],
}

impl Latencies {
    pub const fn new(talk: Talk, is_pinned: bool) -> Self {
        Self { talk, is_pinned, turns: [Vec::new(), Vec::new(), Vec::new()] }
    }

    pub fn add(&mut self, place: usize, way: &Way) {
        let (talk, is_pinned) = (self.talk, self.is_pinned);
        let port = if talk == Talk::RedisGet { way.redis } else { way.postgres };
        let measure = move || {
            if is_pinned {
                pin(None);
            }
            let mut client = Client::connect(talk, port);
            client.times(WARM_UP);
            client.times(EXCHANGES)
        };
        // A thread of its own, so that only it is pinned.
        let times = thread::spawn(measure).join().unwrap();
        let at = |share| quantile(times.iter().copied(), share);
        self.turns[place].push(Turn { p50: at(0.5), p99: at(0.99) });
    }

    /// Of the turns' p50s.
    pub fn p50(&self, place: usize, share: f64) -> f64 {
        quantile(self.turns[place].iter().map(|turn| turn.p50), share)
    }

    /// The usual p99.
    pub fn p99(&self, place: usize) -> f64 {
        quantile(self.turns[place].iter().map(|turn| turn.p99), 0.5)
    }

    /// What a proxy adds to the p50.
    pub fn added(&self, place: usize, share: f64) -> f64 {
        self.p50(place, share) - self.p50(0, share)
    }
}
