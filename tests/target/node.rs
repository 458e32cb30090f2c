//! The example service of `examples/orders-node`, as the guide drills it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use dupeproof::audit::Verdict;
use dupeproof::profile::{self, Profile, Secret, Target};
use dupeproof::report;

use crate::rig::{Rig, until_gone};

/// A copy of the example with its packages, among what the build makes: nothing of it is left
/// anywhere else, and nobody can drop it while another test uses it.
fn installed() -> &'static Path {
    static COPY: OnceLock<PathBuf> = OnceLock::new();
    COPY.get_or_init(|| {
        let copy = Path::new(env!("CARGO_TARGET_TMPDIR")).join("orders-node");
        if copy.exists() {
            fs::remove_dir_all(&copy).unwrap();
        }
        fs::create_dir_all(&copy).unwrap();
        for entry in fs::read_dir("examples/orders-node").unwrap().map(Result::unwrap) {
            if entry.file_type().unwrap().is_file() {
                fs::copy(entry.path(), copy.join(entry.file_name())).unwrap();
            }
        }
        let mut npm = Command::new("npm");
        npm.args(["ci", "--no-audit", "--no-fund"]).current_dir(&copy);
        let done = npm.output().unwrap_or_else(|error| {
            panic!("this test needs Node 18 with npm ({error}): apt-get install nodejs npm")
        });
        assert!(
            done.status.success(),
            "npm ci failed; it needs Node 18 (apt-get install nodejs npm) and a registry:\n{}",
            String::from_utf8_lossy(&done.stderr)
        );
        copy
    })
}

/// The example's profile as it stands; a defect comes by the environment, and the command may be
/// another one.
fn example(folder: &Path, command: &[&str], defect: Option<&str>) -> Profile {
    let mut profile = profile::load(&folder.join("dupeproof.toml"), &|_| None).unwrap();
    let Target::Launched(launched) = &mut profile.target else { panic!("it launches the service") };
    launched.command = command.iter().map(|&word| word.to_owned()).collect();
    launched.env.extend(defect.map(|name| ("ORDERS_DEFECT".to_owned(), Secret::plain(name))));
    profile
}

async fn drilled(command: &[&str], defect: Option<&str>) -> (report::RunResult, PathBuf) {
    let folder = installed();
    let rig = Rig::new();
    let outcome = rig.drill(example(folder, command, defect)).await;
    let outcome = outcome.unwrap_or_else(|error| panic!("{}", crate::rig::full(&error)));
    assert!(outcome.trouble.is_none());
    until_gone(&rig.results.path().display().to_string()).await;
    (outcome.result, folder.to_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn the_correct_service_passes() {
    let (result, _) = drilled(&["node", "server.js"], None).await;
    let text = report::text(&result);
    assert_eq!(result.verdict, Verdict::Passed, "{text}");
    assert_eq!(result.accounting.intents_with_one_order, 100);
    let burst = &result.bursts[0];
    assert_eq!((burst.release.as_str(), burst.in_flight_worst), ("frozen", 10), "{text}");
    assert!(text.contains("2 instances of `node server.js`, launched with a private"), "{text}");
    let wires = &result.wires;
    let postgres = wires.iter().find(|wire| wire.wire == "postgres").expect("it was proxied");
    assert!(postgres.links >= 2 && postgres.refused == 0 && postgres.steps > 0, "{wires:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_service_with_its_defect_is_violated_also_below_npm() {
    let (result, folder) = drilled(&["npm", "start"], Some("check-then-insert")).await;
    assert_eq!(result.verdict, Verdict::Violated);
    let found: Vec<&str> = result.findings.iter().map(|found| found.code.as_str()).collect();
    assert!(found.contains(&"I02"), "{found:?}");
    assert_eq!(result.bursts[0].release, "frozen");
    until_gone(&format!("PWD={}", folder.display())).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn users_log_in_and_their_secret_is_nowhere() {
    let secret = "planted-s3cret-of-orders";
    let env = |name: &str| (name == "ORDERS_SECRET").then(|| secret.to_owned());
    let profile = profile::load(&installed().join("login.toml"), &env).unwrap();
    let rig = Rig::new();
    let outcome = rig.drill(profile).await;
    let outcome = outcome.unwrap_or_else(|error| panic!("{}", crate::rig::full(&error)));
    let text = report::text(&outcome.result);
    assert_eq!(outcome.result.verdict, Verdict::Passed, "{text}");
    assert_eq!(outcome.result.accounting.intents_with_one_order, 100);
    for (path, text) in rig.files() {
        assert!(!text.contains(secret), "{}", path.display());
    }
}

#[test]
fn the_lock_file_names_no_registry() {
    let lock = fs::read_to_string("examples/orders-node/package-lock.json").unwrap();
    assert!(!lock.contains("\"resolved\""), "npm install --omit-lockfile-registry-resolved");
    assert!(lock.contains("\"integrity\""));
}
