//! Our proxies in a process of their own, every step in a journal.

use std::io::{self, Read};
use std::net::SocketAddr;
use std::path::Path;

use dupeproof::history::{Clock, Recorder, Wire};
use dupeproof::wire::{Guide, Proxies, ProxySpec, Watch};

/// What proxies of ours saw and wrote down.
#[derive(Clone, Copy, Debug, Default)]
pub struct Journal {
    pub steps: u64,
    pub lost: u64,
    pub bytes: u64,
}

impl Journal {
    /// As the process says it.
    pub fn parse(line: &str) -> Self {
        let mut numbers = line.split(' ').map(|number| number.parse().unwrap());
        let mut next = || numbers.next().unwrap();
        Self { steps: next(), lost: next(), bytes: next() }
    }

    pub fn add(&mut self, other: Self) {
        self.steps += other.steps;
        self.lost += other.lost;
        self.bytes += other.bytes;
    }
}

/// Serves PostgreSQL and Redis until its standard input ends: journal, ports of the servers.
pub fn run(words: &[String]) {
    let port = |word: &str| SocketAddr::from(([127, 0, 0, 1], word.parse().unwrap()));
    let [journal, postgres, redis] = words else { panic!("three words are needed: {words:?}") };
    let specs = [(Wire::Postgres, postgres), (Wire::Redis, redis)]
        .map(|(wire, server)| ProxySpec::new(wire, port("0"), port(server).into()));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(serve(Path::new(journal), specs.into()));
}

async fn serve(journal: &Path, specs: Vec<ProxySpec>) {
    let (recorder, writer) = Recorder::create(journal).unwrap();
    let watch = Watch { clock: Clock::start(), recorder: Some(recorder), guide: Guide::default() };
    let proxies = Proxies::start(specs, watch).await.unwrap();
    let [postgres, redis] = proxies.addresses() else { panic!("there are two") };
    println!("{} {}", postgres.port(), redis.port());
    let end = tokio::task::spawn_blocking(|| io::stdin().read_to_end(&mut Vec::new()));
    end.await.unwrap().unwrap();
    let wires = proxies.stop().await.unwrap();
    writer.seal().unwrap();
    let bytes = std::fs::metadata(journal).unwrap().len();
    std::fs::remove_file(journal).unwrap();
    let steps: u64 = wires.iter().map(|wire| wire.steps).sum();
    let lost: u64 = wires.iter().map(|wire| wire.lost).sum();
    println!("{steps} {lost} {bytes}");
}
