//! Rows of `docs/measured/drivers.md`, where `make drivers` wants them.

use std::io::Write;
use std::path::Path;

use dupeproof::history::Wire;

use super::cases::Case;
use super::scenes::{Told, Way};

/// A row at the end of a file in the folder that `DRIVERS_ROWS` names.
pub fn add(wire: Wire, way: Way, case: Case, told: &Told, was_helped: bool, servers: &str) {
    let Ok(folder) = std::env::var("DRIVERS_ROWS") else { return };
    let way = match way {
        Way::Plain => "",
        Way::Pipeline => ", pipeline",
        Way::Deaf => ", without a listener",
    };
    let mut attempts = told.attempts.clone();
    attempts.dedup();
    let until = match (case.patience(), was_helped) {
        (None, _) => "",
        (Some(_), true) => "with heal",
        (Some(_), false) => "before heal",
    };
    let row = format!(
        "| {} {}{way} | {} | {} | {until} | {servers} |\n",
        told.driver,
        told.version,
        case.told(wire),
        attempts.join("; then "),
    );
    let path = Path::new(&folder).join(wire.name());
    let mut file = std::fs::File::options().create(true).append(true).open(path).unwrap();
    file.write_all(row.as_bytes()).unwrap();
}

/// The version of a crate that this was built with.
pub fn version_of(name: &str) -> String {
    let mut lines = include_str!("../../../Cargo.lock").lines();
    let wanted = format!("name = \"{name}\"");
    lines.find(|line| *line == wanted).expect("it is in the lock file");
    let version = lines.next().and_then(|line| line.strip_prefix("version = \""));
    version.unwrap_or_default().trim_end_matches('"').to_owned()
}
