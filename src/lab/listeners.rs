//! Who listens on a port (rule S16): the process that was started for it, or somebody else.
//!
//! /proc/net/tcp has a socket's inode, /proc/PID/fd has the inodes of a process. A process that
//! drops to another user can't be looked into by everybody; what isn't visible is not held against
//! it.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use crate::guard::{self, ProcessId};

/// The state LISTEN of `/proc/net/tcp`.
const LISTEN: &str = "0A";

/// Who listens on a port.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Holder {
    Nobody,
    /// The process or one that came of it; where it can be reached.
    Ours(SocketAddr),
    /// Somebody else, in words.
    Stranger(String),
}

/// A listening socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Listener {
    address: SocketAddr,
    inode: u64,
}

/// Who listens on `port`, seen from the process that was to do so.
pub(super) fn holder(port: u16, root: ProcessId) -> Holder {
    let there: Vec<Listener> =
        all().into_iter().filter(|listener| listener.address.port() == port).collect();
    if there.is_empty() {
        return Holder::Nobody;
    }
    let (sockets, all_seen) = sockets_of_family(root);
    let ours: Vec<Listener> =
        there.iter().copied().filter(|listener| sockets.contains(&listener.inode)).collect();
    match (ours.is_empty(), all_seen) {
        (false, _) => Holder::Ours(reachable(&ours, port)),
        (true, false) => Holder::Ours(reachable(&there, port)),
        (true, true) => Holder::Stranger(name_holder(&there)),
    }
}

/// The ports on which the process and those that came of it listen.
pub(super) fn ports_of(root: ProcessId) -> Vec<u16> {
    let (sockets, _) = sockets_of_family(root);
    let mut ports: Vec<u16> = all()
        .into_iter()
        .filter(|listener| sockets.contains(&listener.inode))
        .map(|listener| listener.address.port())
        .collect();
    ports.sort_unstable();
    ports.dedup();
    ports
}

/// IPv4's loopback, unless only IPv6's is listened on (what `localhost` is to some runtimes).
fn reachable(listeners: &[Listener], port: u16) -> SocketAddr {
    let only = |wanted: IpAddr| listeners.iter().all(|listener| listener.address.ip() == wanted);
    let ipv6 = IpAddr::V6(Ipv6Addr::LOCALHOST);
    SocketAddr::new(if only(ipv6) { ipv6 } else { Ipv4Addr::LOCALHOST.into() }, port)
}

/// The sockets of a family, and whether all of its members could be looked into.
fn sockets_of_family(root: ProcessId) -> (HashSet<u64>, bool) {
    let mut sockets = HashSet::new();
    let mut all_seen = true;
    for member in guard::family(root) {
        match sockets_of(member.pid) {
            Ok(found) => sockets.extend(found),
            // One that has ended meanwhile holds nothing.
            Err(_) => all_seen &= member.has_ended(),
        }
    }
    (sockets, all_seen)
}

fn sockets_of(pid: u32) -> io::Result<Vec<u64>> {
    let entries = fs::read_dir(format!("/proc/{pid}/fd"))?;
    Ok(entries
        .flatten()
        .filter_map(|entry| {
            let link = fs::read_link(entry.path()).ok()?;
            link.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()
        })
        .collect())
}

/// The process that holds one of these, by pid and name, as far as we may look.
fn name_holder(listeners: &[Listener]) -> String {
    let pids = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = pids.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    for pid in pids {
        let sockets = sockets_of(pid).unwrap_or_default();
        if listeners.iter().any(|listener| sockets.contains(&listener.inode)) {
            let name = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
            return format!("process {pid} ({})", name.trim_end());
        }
    }
    "a process that can't be looked into (another user's, or outside of this container)".to_owned()
}

fn all() -> Vec<Listener> {
    ["/proc/net/tcp", "/proc/net/tcp6"]
        .iter()
        .flat_map(|table| parse(&fs::read_to_string(table).unwrap_or_default()))
        .collect()
}

/// Columns of proc_net_tcp(5): slot, local address, remote address, state; the tenth is the inode.
fn parse(table: &str) -> Vec<Listener> {
    let rows = table.lines().skip(1).filter_map(|row| {
        let fields: Vec<&str> = row.split_ascii_whitespace().collect();
        (*fields.get(3)? == LISTEN).then_some(())?;
        Some(Listener { address: address(fields.get(1)?)?, inode: fields.get(9)?.parse().ok()? })
    });
    rows.collect()
}

/// `0100007F:1F90`: 32-bit words in the machine's byte order, the port in plain hexadecimal.
fn address(text: &str) -> Option<SocketAddr> {
    let (host, port) = text.split_once(':')?;
    let port = u16::from_str_radix(port, 16).ok()?;
    let words = (0..host.len()).step_by(8).map(|start| {
        let word = host.get(start..start + 8)?;
        Some(u32::from_str_radix(word, 16).ok()?.to_ne_bytes())
    });
    let bytes = words.collect::<Option<Vec<_>>>()?.concat();
    let host = match <[u8; 4]>::try_from(bytes.as_slice()) {
        Ok(ipv4) => IpAddr::from(ipv4),
        Err(_) => IpAddr::from(<[u8; 16]>::try_from(bytes.as_slice()).ok()?).to_canonical(),
    };
    Some(SocketAddr::new(host, port))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn a_listener_of_ours_is_known_and_one_of_somebody_else_is_named() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let ourselves = ProcessId::of(std::process::id()).unwrap();
        assert_eq!(holder(address.port(), ourselves), Holder::Ours(address));
        assert!(ports_of(ourselves).contains(&address.port()));

        let mut sleeper = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let other = ProcessId::of(sleeper.id()).unwrap();
        let held = holder(address.port(), other);
        sleeper.kill().unwrap();
        sleeper.wait().unwrap();
        let us = format!("process {} ", std::process::id());
        assert!(matches!(&held, Holder::Stranger(who) if who.starts_with(&us)), "{held:?}");

        drop(listener);
        assert_eq!(holder(address.port(), ourselves), Holder::Nobody);
    }

    #[test]
    fn a_port_that_only_ipv6_listens_on_is_reached_there() {
        let on =
            |ip: &str| Listener { address: SocketAddr::new(ip.parse().unwrap(), 80), inode: 1 };
        assert_eq!(reachable(&[on("::1")], 80), "[::1]:80".parse().unwrap());
        assert_eq!(reachable(&[on("::")], 80), "127.0.0.1:80".parse().unwrap());
        assert_eq!(reachable(&[on("::1"), on("127.0.0.1")], 80), "127.0.0.1:80".parse().unwrap());
    }
}
