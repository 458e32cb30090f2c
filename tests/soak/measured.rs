//! Pages under `docs/measured/`.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Writes a page with its head: what, when, with which command, on what machine.
pub fn write(name: &str, title: &str, body: &str) {
    let mut page = String::new();
    let _ = writeln!(page, "# {title}\n");
    let _ = writeln!(page, "- date: {}", today());
    let _ = writeln!(page, "- command: `make soak`");
    let _ = writeln!(page, "- machine: {}\n", machine());
    page.push_str(body);
    let path = path(name);
    std::fs::create_dir_all(path.parent().expect("it has a folder")).expect("docs can be written");
    std::fs::write(path, page).expect("docs/measured can be written");
}

/// A page as it was written last; empty if there is none.
pub fn read(name: &str) -> String {
    std::fs::read_to_string(path(name)).unwrap_or_default()
}

pub fn today() -> String {
    jiff::Timestamp::now().strftime("%Y-%m-%d").to_string()
}

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/measured").join(name)
}

fn machine() -> String {
    let cpus = std::thread::available_parallelism().map_or(0, usize::from);
    let memory = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let kib: u64 = memory
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:"))
        .and_then(|rest| rest.split_whitespace().next()?.parse().ok())
        .unwrap_or(0);
    format!(
        "{cpus} cores, {} GiB, Linux {}, {}, {}",
        kib / 1024 / 1024,
        first_line("uname", &["-r"]),
        postgres(),
        first_line("redis-server", &["--version"]).split(" sha=").next().unwrap_or_default(),
    )
}

fn postgres() -> String {
    let installed = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let newest = installed.map(|entry| entry.path().join("bin/postgres")).max();
    let program = newest.unwrap_or_else(|| "postgres".into());
    first_line(&program.to_string_lossy(), &["--version"])
}

fn first_line(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output();
    let text = output.map(|output| output.stdout).unwrap_or_default();
    String::from_utf8_lossy(&text).lines().next().unwrap_or_default().to_owned()
}
