//! A command that dupeproof starts: its ports, its ends, its processes.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use dupeproof::audit::Verdict;
use dupeproof::codes;
use dupeproof::profile::{Launched, Secret, Target};

use crate::attached::server;
use crate::rig::{Rig, TABLES, full, processes_with, profile, python, until_gone};

#[tokio::test]
async fn an_instance_that_exits_by_itself_is_i27_with_its_last_words() {
    let rig = Rig::new();
    let does = "if posts > 7:\n    print('out of ideas', file=sys.stderr, flush=True)\n    os._exit(3)\n\
                self.answer(503, b'{}')";
    let mut profile = profile(Target::Launched(python(&server(does))));
    profile.setup.sql = vec![TABLES.to_owned()];
    let outcome = rig.drill(profile).await.unwrap();
    assert_eq!(outcome.result.verdict, Verdict::Violated);
    let found = outcome.result.findings.iter().find(|found| found.code == "I27").unwrap();
    let cells = found.evidence.rows.concat().join(" ");
    assert!(cells.contains("target-0") && cells.contains("exit status: 3"), "{cells}");
    assert!(cells.contains("out of ideas"), "{cells}");
    assert!(rig.text("logs/target-0.log").contains("out of ideas"));
}

/// A launcher, a launcher below it that waits for the service, and an orphan that went its own way;
/// all of them with the mark in their environment.
fn tree(mark: &str, does: &str) -> Launched {
    let mut launched = python(&server(does));
    let inner = std::mem::take(&mut launched.command);
    launched.command = vec![
        "sh".to_owned(),
        "-c".to_owned(),
        "(setsid sleep 600 &) ; sh -c '\"$0\" \"$@\"; true' \"$@\"; true".to_owned(),
        "launcher".to_owned(),
    ];
    launched.command.extend(inner);
    launched.env = vec![("MARK".to_owned(), Secret::plain(mark))];
    launched
}

#[tokio::test]
async fn a_tree_of_processes_is_paused_as_a_whole_and_ends_as_a_whole() {
    let rig = Rig::new();
    let mark = format!("mark-{:016x}", rand::random::<u64>());
    let mut profile = profile(Target::Launched(tree(&mark, "self.answer(503, b'{}')")));
    profile.setup.sql = vec![TABLES.to_owned()];
    let outcome = rig.drill(profile).await.unwrap();
    assert_eq!(outcome.result.verdict, Verdict::Inconclusive, "nothing was acknowledged");
    let burst = &outcome.result.bursts[0];
    assert_eq!((burst.release.as_str(), burst.in_flight_worst), ("frozen", 5));
    until_gone(&mark).await;
}

/// A drill that is killed by the test below, in a process of its own.
#[tokio::test]
#[ignore = "it is run by another test"]
async fn a_drill_to_be_killed() {
    let Ok(mark) = std::env::var("DRILL_MARK") else { return };
    let mut profile = profile(Target::Launched(tree(&mark, "time.sleep(600)")));
    profile.client.timeout = Duration::from_secs(600);
    profile.setup.sql = vec![TABLES.to_owned()];
    let _ = Rig::new().drill(profile).await;
}

#[tokio::test]
async fn a_killed_drill_leaves_no_process_of_the_target() {
    let mark = format!("mark-{:016x}", rand::random::<u64>());
    // What the killed one can't remove itself; PostgreSQL's user must be able to enter.
    let folder = tempfile::tempdir().unwrap();
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(folder.path(), open).unwrap();
    let mut drill = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "launched::a_drill_to_be_killed", "--ignored"])
        .env("DRILL_MARK", &mark)
        .env("TMPDIR", folder.path())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    // The launcher, the one below, the service and the orphan, beside the drill and its servers.
    let sleeps = || {
        processes_with(&mark).iter().any(|pid| {
            let name = std::fs::read_to_string(format!("/proc/{pid}/comm"));
            name.is_ok_and(|name| name.trim() == "sleep")
        })
    };
    let deadline = Instant::now() + Duration::from_secs(60);
    while !sleeps() {
        assert!(Instant::now() < deadline, "the target never came up");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    drill.kill().unwrap();
    drill.wait().unwrap();
    until_gone(&mark).await;
}

#[tokio::test]
async fn a_command_that_ends_early_or_is_not_there_is_told_with_its_log() {
    let mut ends = python("print('no licence'); raise SystemExit(9)");
    let mut missing = python("");
    missing.command[0] = "no-such-program".to_owned();
    ends.ready_within = Duration::from_secs(20);
    for (launched, says) in [(ends, "no licence"), (missing, "no-such-program")] {
        let error = Rig::new().drill(profile(Target::Launched(launched))).await.unwrap_err();
        assert_eq!(error.code().unwrap().id, codes::E06.id);
        let text = full(&error);
        assert!(text.contains("ended before it was ready") && text.contains(says), "{text}");
    }
}

#[tokio::test]
async fn a_command_that_ignores_its_port_is_told_where_it_listens() {
    let mut launched = python(&server("pass"));
    launched.command[4] = "0".to_owned();
    launched.ready_within = Duration::from_secs(3);
    let error = Rig::new().drill(profile(Target::Launched(launched))).await.unwrap_err();
    let text = full(&error);
    assert!(text.contains("does not listen on port") && text.contains("but on "), "{text}");
    assert!(text.contains("`{port}`"), "{text}");
}

#[tokio::test]
async fn an_instance_that_is_never_ready_says_what_it_answered() {
    let mut launched = python(&server("pass"));
    launched.ready = Some("/health".to_owned());
    launched.ready_within = Duration::from_secs(3);
    let error = Rig::new().drill(profile(Target::Launched(launched))).await.unwrap_err();
    assert!(full(&error).contains("GET /health says 503, not 2xx"), "{}", full(&error));
}
