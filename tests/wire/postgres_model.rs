//! Names against a model of the server: whatever is sent, fails, and however late the answers come,
//! at the end a name means what it means at the server.

use std::collections::{BTreeMap, VecDeque};

use dupeproof::wire::postgres::{Backend, Frame, Frontend, Names, Reply, Request};
use dupeproof::wire::{Mark, Scanner};
use proptest::prelude::*;

use crate::postgres_messages::{
    about, bind, complete, message, parse, query, ready, startup, sync, trouble,
};

const NAMES: [&str; 3] = ["", "a", "b"];

#[derive(Clone, Debug)]
enum Step {
    Parse(usize),
    Close(usize),
    Bind(usize),
    Describe(usize),
    Sync,
    Select,
    Deallocate(usize),
    DeallocateAll,
}

fn step() -> impl Strategy<Value = Step> {
    let name = 0..NAMES.len();
    prop_oneof![
        4 => name.clone().prop_map(Step::Parse),
        2 => name.clone().prop_map(Step::Close),
        2 => name.clone().prop_map(Step::Bind),
        1 => name.clone().prop_map(Step::Describe),
        3 => Just(Step::Sync),
        1 => Just(Step::Select),
        1 => (1..NAMES.len()).prop_map(Step::Deallocate),
        1 => Just(Step::DeallocateAll),
    ]
}

/// Executes one message after the other, and skips to the next Sync behind a failure.
#[derive(Default)]
struct Server {
    statements: BTreeMap<&'static str, String>,
    is_skipping: bool,
}

impl Server {
    fn execute(&mut self, step: &Step, sql: &str, fails: bool) -> Vec<u8> {
        if matches!(step, Step::Sync) {
            self.is_skipping = false;
            return ready(b'I');
        }
        if self.is_skipping {
            return Vec::new();
        }
        let is_query = matches!(step, Step::Select | Step::Deallocate(_) | Step::DeallocateAll);
        if fails {
            self.is_skipping = !is_query;
            let end = if is_query { ready(b'I') } else { Vec::new() };
            return [trouble(b'E', "XX000", "fails"), end].concat();
        }
        let query = |tag: &str| [complete(tag), ready(b'I')].concat();
        match step {
            Step::Parse(name) => {
                self.statements.insert(NAMES[*name], sql.to_owned());
                message(b'1', &[])
            }
            Step::Close(name) => {
                self.statements.remove(NAMES[*name]);
                message(b'3', &[])
            }
            Step::Bind(_) => message(b'2', &[]),
            Step::Describe(_) => [message(b't', &[&[0, 0]]), message(b'n', &[])].concat(),
            Step::Deallocate(name) => {
                self.statements.remove(NAMES[*name]);
                query("DEALLOCATE")
            }
            Step::DeallocateAll => {
                self.statements.clear();
                query("DEALLOCATE ALL")
            }
            Step::Select | Step::Sync => query("SELECT 1"),
        }
    }
}

fn written(step: &Step, sql: &str) -> Vec<u8> {
    match step {
        Step::Parse(name) => parse(NAMES[*name], sql, &[]),
        Step::Close(name) => about(b'C', b'S', NAMES[*name]),
        Step::Bind(name) => bind("p", NAMES[*name], &[], &[]),
        Step::Describe(name) => about(b'D', b'S', NAMES[*name]),
        Step::Sync => sync(),
        Step::Select => query("SELECT 1"),
        Step::Deallocate(name) => query(&format!("DEALLOCATE {}", NAMES[*name])),
        Step::DeallocateAll => query("DEALLOCATE ALL"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn at_the_end_a_name_means_what_it_means_at_the_server(
        steps in proptest::collection::vec((step(), proptest::bool::weighted(0.2), 0..6_usize), 1..40),
    ) {
        let (mut names, mut server) = (Names::default(), Server::default());
        let (mut frontend, mut backend) = (Frontend::new(), Backend::new());
        frontend.scan(&startup(), &mut |_| {});
        let mut waiting = VecDeque::from([ready(b'I')]);
        let mut answer = |names: &mut Names, bytes: &[u8]| {
            backend.scan(bytes, &mut |mark: Mark<Frame<'_>>| {
                if let Mark::Ended { frame, .. } = mark {
                    names.answered(&Reply::of(&frame));
                }
            });
        };
        let end = (Step::Sync, false, 0);
        for (place, (step, fails, answers)) in steps.iter().chain([&end]).enumerate() {
            // No client sends anything before it is let in.
            for _ in 0..(*answers).max(usize::from(place == 0)) {
                if let Some(bytes) = waiting.pop_front() {
                    answer(&mut names, &bytes);
                }
            }
            let sql = format!("SELECT {place}");
            frontend.scan(&written(step, &sql), &mut |mark: Mark<Frame<'_>>| {
                if let Mark::Ended { frame, .. } = mark {
                    names.sent(&Request::of(&frame));
                }
            });
            waiting.push_back(server.execute(step, &sql, *fails));
        }
        for bytes in waiting {
            answer(&mut names, &bytes);
        }
        for name in NAMES {
            let ours = names.statement(name.as_bytes());
            let ours = ours.map(|statement| String::from_utf8_lossy(&statement.sql).into_owned());
            prop_assert_eq!(ours.as_ref(), server.statements.get(name), "{:?}", name);
        }
        prop_assert!(names.portal(b"p").is_none(), "no portal outlives its transaction");
    }
}
