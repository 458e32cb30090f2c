//! Whoever wants to know is told of attempts while they last.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use dupeproof::history::{AttemptId, PhaseId, RunTime};
use dupeproof::load::{Leaving, Witness};
use dupeproof::profile::{Arrival, Burst, Crowd};
use tokio::io::BufReader;

use crate::rig::{Rig, burst, client, targets};
use crate::server::{Server, created, read_request, write};

/// Answers everything with an order.
async fn creating() -> Server {
    Server::start(|stream, _| async move {
        let mut stream = BufReader::new(stream);
        while read_request(&mut stream).await.is_some() {
            write(stream.get_mut(), &created("1")).await;
        }
    })
    .await
}

/// Counts what it is told of each attempt.
#[derive(Debug, Default)]
struct Told(Mutex<BTreeMap<AttemptId, (u32, u32)>>);

impl Witness for Told {
    fn leaving(&self, attempts: &mut dyn Iterator<Item = Leaving>, _: RunTime, _: RunTime) {
        let mut told = self.0.lock().unwrap();
        attempts.for_each(|leaving| told.entry(leaving.attempt).or_default().0 += 1);
    }

    fn ended(&self, attempt: AttemptId) {
        self.0.lock().unwrap().entry(attempt).or_default().1 += 1;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_witness_is_told_of_every_attempt_that_leaves_and_of_its_end() {
    let server = creating().await;
    for arrival in [Arrival::AtOnce, Arrival::AroundCompletion, Arrival::Spread] {
        let mut rig = Rig::new(targets(&[server.address]), client()).await;
        let told = Arc::new(Told::default());
        rig.load = rig.load.witnessed_by(Arc::clone(&told) as Arc<dyn Witness>);
        rig.run(&Crowd { arrival, ..burst(3, 4) }).await;
        rig.load.probe(PhaseId(0), &Burst::SameKey(burst(3, 4)), &rig.stop).await.unwrap();
        let history = rig.history();
        assert_eq!(history.attempts.len(), 12 + 2, "a probe and its replay");
        let told = told.0.lock().unwrap();
        assert_eq!(told.len(), history.attempts.len(), "{arrival:?}");
        assert!(told.values().all(|counts| *counts == (1, 1)), "{arrival:?}: {told:?}");
    }
}
