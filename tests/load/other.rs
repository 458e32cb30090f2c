//! A server in a process of its own, which can be stopped: this binary, executed again.

use std::io::{BufRead, BufReader, Lines, Read, Write};
use std::net::SocketAddr;
use std::process::{Child, ChildStdout, Command, Stdio};

use rustix::process::Pid;

use crate::server::{Gate, listen};

const ROLE: &str = "DUPEPROOF_TEST_SERVER";

/// Not a test but the server, where the variable says so; a test run passes through.
#[test]
fn server_of_another_process() {
    let Ok(together) = std::env::var(ROLE) else { return };
    std::thread::spawn(|| {
        let _ = std::io::stdin().read(&mut [0]);
        std::process::exit(0);
    });
    let gate = Gate::telling_the_time(together.parse().unwrap());
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let listener = listen();
        println!("\nport {}", listener.local_addr().unwrap().port());
        std::io::stdout().flush().unwrap();
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(gate.clone().serve(stream));
        }
    });
}

/// A server in a process of its own; it ends with this one, or when it is dropped.
pub struct Other {
    child: Child,
    pub address: SocketAddr,
    /// Kept open: its test runner speaks up now and then, and would end at a broken pipe.
    _words: Lines<BufReader<ChildStdout>>,
}

impl Other {
    pub fn start(together: usize) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "other::server_of_another_process", "--nocapture"])
            .env(ROLE, together.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let port = lines.find_map(|line| line.unwrap().strip_prefix("port ")?.parse().ok());
        let address = SocketAddr::from(([127, 0, 0, 1], port.unwrap()));
        Self { child, address, _words: lines }
    }

    pub fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}
