//! Proxies whose journal is read back: what the wires saw, as the audit will see it.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};

use dupeproof::history::{
    Clock, Fact, History, InstanceId, IntentId, JournalWriter, Recorder, RunFacts, RunId,
    SCHEMA_VERSION, Step, Wire, WireFacts,
};
use dupeproof::wire::{Expected, Guide, Proxies, ProxySpec, Watch};

use crate::ends::{LIMIT, exactly, send};

const LOOPBACK: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

/// Proxies in front of servers, and the journal that they write.
pub struct Watched {
    proxies: Proxies,
    writer: JournalWriter,
    folder: tempfile::TempDir,
    listener: TcpListener,
}

/// What was written down.
pub struct Seen {
    pub history: History,
    pub wires: Vec<WireFacts>,
}

impl Watched {
    /// One proxy, in front of a listener of the test's own.
    pub async fn set(wire: Wire) -> Self {
        let listener = TcpListener::bind(LOOPBACK).unwrap();
        let upstream = listener.local_addr().unwrap();
        Self::before(vec![(wire, upstream, None)], listener).await
    }

    /// A proxy for each instance, in front of real servers.
    pub async fn servers(doors: Vec<(Wire, SocketAddr, Option<u16>)>) -> Self {
        Self::before(doors, TcpListener::bind(LOOPBACK).unwrap()).await
    }

    async fn before(doors: Vec<(Wire, SocketAddr, Option<u16>)>, listener: TcpListener) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.jsonl");
        let (recorder, writer) = Recorder::create(&path).unwrap();
        recorder.record(Fact::Run(Box::new(run()))).await;
        let spec = |(wire, upstream, instance): (Wire, SocketAddr, Option<u16>)| ProxySpec {
            listen: LOOPBACK,
            upstream: upstream.into(),
            wire,
            instance: instance.map(InstanceId),
            beyond_loopback: false,
        };
        let guide = Guide {
            orders: Some("orders".to_owned()),
            stock: Some("shop.stock".to_owned()),
            ..Guide::default()
        };
        let watch = Watch { clock: Clock::start(), recorder: Some(recorder), guide };
        let proxies = Proxies::start(doors.into_iter().map(spec).collect(), watch).await.unwrap();
        Self { proxies, writer, folder, listener }
    }

    pub fn address(&self, door: usize) -> SocketAddr {
        self.proxies.addresses()[door]
    }

    pub fn proxies(&mut self) -> &mut Proxies {
        &mut self.proxies
    }

    /// Two intents of users `u-run-000` and `u-run-001` at product 9000000.
    pub async fn expect_two(&self) {
        let expected = |intent: u32| Expected {
            intent: IntentId(intent),
            user: format!("u-run-00{intent}"),
            key: format!("k-run-00{intent}"),
            product: Some(9_000_000),
            entity: None,
        };
        self.proxies.expect(vec![expected(0), expected(1)]).await.unwrap();
    }

    /// Both ends of a link; reading from them fails when nothing comes.
    pub fn link(&self) -> (TcpStream, TcpStream) {
        let client = TcpStream::connect(self.address(0)).unwrap();
        let (server, _) = self.listener.accept().unwrap();
        for end in [&client, &server] {
            end.set_read_timeout(Some(LIMIT)).unwrap();
        }
        (client, server)
    }

    /// Ends the proxies and reads what they wrote.
    pub async fn end(self) -> Seen {
        let seen = self.end_of_liars().await;
        seen.history.steps.iter().for_each(assert_in_order);
        seen
    }

    /// The same where a server answers what it wasn't asked.
    pub async fn end_of_liars(self) -> Seen {
        let wires = self.proxies.stop().await.unwrap();
        self.writer.seal().unwrap();
        let history = History::read(&self.folder.path().join("journal.jsonl")).unwrap();
        assert!(history.sealed);
        Seen { history, wires }
    }
}

/// Sends a request through and its reply back.
pub fn exchange((client, server): &(TcpStream, TcpStream), request: &[u8], reply: &[u8]) {
    send(client, request);
    assert_eq!(exactly(server, request.len()), request);
    send(server, reply);
    assert_eq!(exactly(client, reply.len()), reply);
}

impl Seen {
    /// Each step in a line: its name, its role, whose it is, its transaction, and what came of it.
    pub fn told(&self) -> Vec<String> {
        self.history.steps.iter().map(told).collect()
    }
}

fn told(step: &Step) -> String {
    let mut told = step.name();
    if let Some(role) = step.role {
        told.push_str(&format!(" ({})", role.name()));
    }
    if let Some(intent) = step.intent {
        told.push_str(&format!(" of {intent}"));
    }
    if let Some(transaction) = step.transaction {
        told.push_str(&format!(" in {transaction}"));
    }
    told.push_str(&format!(": {:?}", step.end).to_lowercase());
    if let Some(answer) = &step.answer {
        told.push_str(&format!(" {answer}"));
    }
    if let Some(standing) = step.standing {
        told.push_str(&format!(", {standing:?}").to_lowercase());
    }
    told
}

fn assert_in_order(step: &Step) {
    let times = [Some(step.asked), step.forwarded, step.answered, step.delivered];
    let times: Vec<_> = times.into_iter().flatten().collect();
    assert!(times.is_sorted(), "{step:?}");
}

fn run() -> RunFacts {
    RunFacts {
        schema_version: SCHEMA_VERSION,
        run: RunId::from_bits(1),
        seed: 1,
        version: "0".to_owned(),
        profile: "wire".to_owned(),
        started: "2026-11-30T10:31:07Z".parse().unwrap(),
        defects: Vec::new(),
        environment: BTreeMap::new(),
    }
}
