//! The other programs: nginx as the target, wrk and oha as clients.

use std::io::Write;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::ruler::{Cost, measure, pinned};

/// How long each peer runs.
const SECONDS: u32 = 4;

const LUA: &str = r#"
local count = 0
local run = tostring(os.time())
request = function()
  count = count + 1
  local headers = {
    ["Idempotency-Key"] = "k-" .. run .. "-" .. count,
    ["X-User-Id"] = "u-" .. run .. "-" .. count,
    ["Content-Type"] = "application/json",
  }
  local body = '{"userId":"u-' .. run .. '-' .. count ..
    '","productId":' .. 91800000000000 + count % 3 .. ',"quantity":1}'
  return wrk.format("POST", "/orders", headers, body)
end
"#;

/// An nginx of our own; it ends when this is dropped.
pub struct Nginx {
    child: Child,
    pub address: SocketAddr,
    pub folder: tempfile::TempDir,
}

impl Nginx {
    /// Starts it on the second core; nothing where there is no nginx.
    pub fn start() -> Option<Self> {
        let program = find("nginx")?;
        let folder = tempfile::tempdir().unwrap();
        let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let home = folder.path().display();
        let temporary: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .iter()
            .map(|what| format!("{what}_temp_path {home}/{what};\n"))
            .collect();
        let settings = format!(
            "daemon off; worker_processes 1; pid {home}/pid; error_log {home}/error.log;\n\
             events {{ worker_connections 8192; }}\n\
             http {{ access_log off; keepalive_requests 1000000000; {temporary}\n\
             server {{ listen {address} backlog=4096; location / {{\n\
             default_type application/json; return 201 '{{\"orderId\":\"17\"}}'; }} }} }}\n"
        );
        let file = folder.path().join("nginx.conf");
        std::fs::write(&file, settings).unwrap();
        let mut command = Command::new("taskset");
        command.args(["-c", "1"]).arg(program).arg("-e").arg(folder.path().join("error.log"));
        command.arg("-c").arg(&file).stdout(Stdio::null()).stderr(Stdio::null());
        let child = command.spawn().unwrap();
        let nginx = Self { child, address, folder };
        while TcpStream::connect(address).is_err() {
            std::thread::yield_now();
        }
        Some(nginx)
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        let quit = Command::new("kill").arg(self.child.id().to_string()).status();
        let _ = quit.and_then(|_| self.child.wait());
    }
}

pub fn wrk(nginx: &Nginx) -> Option<Cost> {
    let script = nginx.folder.path().join("keys.lua");
    std::fs::File::create(&script).unwrap().write_all(LUA.as_bytes()).unwrap();
    let mut command = pinned(find("wrk")?);
    command.args(["-t1", "-c64", &format!("-d{SECONDS}s"), "-s"]).arg(script);
    measure(command.arg(format!("http://{}/orders", nginx.address)), |said| {
        assert!(!said.contains("Non-2xx"), "{said}");
        said.lines().find_map(|line| line.trim().split_once(" requests in")?.0.parse().ok())
    })
}

/// oha makes no key for each request; it is measured with one key for all, which is cheaper.
pub fn oha(nginx: &Nginx) -> Option<Cost> {
    let mut command = pinned(find("oha")?);
    command.args(["--no-tui", "-c", "64", "-n", "200000", "-m", "POST", "-H"]);
    command.args(["Idempotency-Key: k-1", "-T", "application/json", "-d"]);
    command.arg(r#"{"userId":"u-1","productId":91800000000000,"quantity":1}"#);
    measure(command.arg(format!("http://{}/orders", nginx.address)), |_| Some(200_000))
}

/// A program on the path, or where packages and cargo put such things.
fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let in_home = |variable, rest| Some(Path::new(&std::env::var_os(variable)?).join(rest));
    let homes = [in_home("CARGO_HOME", "bin"), in_home("HOME", ".cargo/bin")];
    let mut folders: Vec<_> =
        std::env::split_paths(&path).chain(homes.into_iter().flatten()).collect();
    folders.extend(["/usr/sbin", "/usr/local/bin"].map(PathBuf::from));
    folders.into_iter().map(|folder| folder.join(program)).find(|file| file.is_file())
}
