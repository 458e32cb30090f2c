//! The ways from a client to its servers: direct, through ours, through HAProxy.

use std::io::{BufRead, BufReader};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};

use crate::cases::Tools;
use crate::ground::{Ground, pin_process};
use crate::served::Journal;

/// The ways, in the order in which all figures of a round stand.
pub const NAMES: [&str; 3] = ["direct", "dupeproof", "HAProxy"];

/// Clock ticks a second; the kernel's interface has had this value on Linux ever since.
const TICKS: f64 = 100.0;

pub struct Way {
    /// None where nothing stands in between.
    proxy: Option<Child>,
    pub postgres: u16,
    pub redis: u16,
}

impl Way {
    pub fn start_all(tools: &Tools, ground: &Ground) -> [Self; 3] {
        let direct = Self { proxy: None, postgres: ground.postgres, redis: ground.redis };
        [direct, Self::ours(ground), Self::haproxy(tools, ground)]
    }

    /// This program itself, with a journal of its own.
    fn ours(ground: &Ground) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.arg("--serve").arg(ground.folder.path().join("journal.jsonl"));
        command.args([ground.postgres.to_string(), ground.redis.to_string()]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let ports = line_of(&mut child);
        let mut ports = ports.split(' ').map(|port| port.parse().unwrap());
        let (postgres, redis) = (ports.next().unwrap(), ports.next().unwrap());
        Self { proxy: Some(child), postgres, redis }
    }

    fn haproxy(tools: &Tools, ground: &Ground) -> Self {
        let (postgres, redis) = (free_port(), free_port());
        let listen = |name: &str, port: u16, server: u16| {
            format!("listen {name}\n bind 127.0.0.1:{port}\n server {name} 127.0.0.1:{server}\n")
        };
        let settings = format!(
            "global\n nbthread 1\n maxconn 4096\ndefaults\n mode tcp\n timeout connect 5s\n \
             timeout client 1h\n timeout server 1h\n{}{}",
            listen("postgres", postgres, ground.postgres),
            listen("redis", redis, ground.redis),
        );
        let file = ground.folder.path().join("haproxy.cfg");
        std::fs::write(&file, settings).unwrap();
        let mut command = Command::new(&tools.haproxy);
        let child = command.arg("-db").arg("-f").arg(file).stderr(Stdio::null()).spawn().unwrap();
        let mut way = Self { proxy: Some(child), postgres, redis };
        while TcpStream::connect(("127.0.0.1", redis)).is_err() {
            let ended = way.proxy.as_mut().and_then(|child| child.try_wait().unwrap());
            assert!(ended.is_none(), "HAProxy has ended: {ended:?}");
            std::thread::yield_now();
        }
        way
    }

    /// User and system seconds of the proxy's process, all threads (proc_pid_stat(5)).
    pub fn cpu_seconds(&self) -> f64 {
        let Some(proxy) = &self.proxy else { return 0.0 };
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", proxy.id())).unwrap();
        let fields: Vec<_> = stat.rsplit_once(')').unwrap().1.split_ascii_whitespace().collect();
        let ticks = |place: usize| fields[place].parse::<f64>().unwrap();
        (ticks(11) + ticks(12)) / TICKS
    }

    /// Keeps the proxy on one CPU from now on.
    pub fn pin(&self) {
        self.proxy.iter().for_each(|child| pin_process(child.id()));
    }

    /// What ours wrote down.
    pub fn stop(mut self) -> Journal {
        let Some(mut child) = self.proxy.take() else { return Journal::default() };
        if child.stdin.take().is_none() {
            end(&mut child);
            return Journal::default();
        }
        let journal = Journal::parse(&line_of(&mut child));
        assert!(child.wait().unwrap().success());
        journal
    }
}

impl Drop for Way {
    fn drop(&mut self) {
        self.proxy.iter_mut().for_each(end);
    }
}

fn end(child: &mut Child) {
    // It may have ended already.
    let _ = child.kill();
    let _ = child.wait();
}

/// The next line that it says. It says no more than it is asked for, so nothing is lost.
fn line_of(child: &mut Child) -> String {
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    line.trim_end().to_owned()
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}
