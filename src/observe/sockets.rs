//! Connections that are still open at the target, from the kernel's table.
//!
//! A client that gave up has closed its end; as long as the other end is open, the target may still
//! be at work on the request. On loopback both ends are in `/proc/net/tcp`, also those that wait in
//! an accept queue. Linux only.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// Connection states of `/proc/net/tcp` that mean "over": TIME_WAIT, CLOSE, LISTEN.
const OVER: [&str; 3] = ["06", "07", "0A"];

/// How many connections from or to any of these addresses are open; `None` where the kernel's
/// table can't be read.
pub(super) fn open_connections(targets: &[SocketAddr]) -> Option<usize> {
    let ipv4 = std::fs::read_to_string("/proc/net/tcp").ok()?;
    let ipv6 = std::fs::read_to_string("/proc/net/tcp6").unwrap_or_default();
    Some(count(&ipv4, targets) + count(&ipv6, targets))
}

fn count(table: &str, targets: &[SocketAddr]) -> usize {
    table
        .lines()
        .skip(1)
        .filter(|line| {
            let mut fields = line.split_whitespace().skip(1);
            let ends = (fields.next().and_then(address), fields.next().and_then(address));
            let over = fields.next().is_none_or(|state| OVER.contains(&state));
            let concerns = |end: Option<SocketAddr>| end.is_some_and(|end| targets.contains(&end));
            !over && (concerns(ends.0) || concerns(ends.1))
        })
        .count()
}

/// `0100007F:1F90`: the address in host byte order by 32-bit words, the port in plain hexadecimal.
fn address(text: &str) -> Option<SocketAddr> {
    let (host, port) = text.split_once(':')?;
    let port = u16::from_str_radix(port, 16).ok()?;
    let mut bytes = Vec::with_capacity(16);
    for start in (0..host.len()).step_by(8) {
        let word = u32::from_str_radix(host.get(start..start + 8)?, 16).ok()?;
        bytes.extend_from_slice(&word.to_ne_bytes());
    }
    let host = match <[u8; 4]>::try_from(bytes.as_slice()) {
        Ok(ipv4) => IpAddr::V4(Ipv4Addr::from(ipv4)),
        Err(_) => {
            let ipv6 = Ipv6Addr::from(<[u8; 16]>::try_from(bytes.as_slice()).ok()?);
            ipv6.to_ipv4_mapped().map_or(IpAddr::V6(ipv6), IpAddr::V4)
        }
    };
    Some(SocketAddr::new(host, port))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_open_connection_is_seen_from_both_ends_and_a_listener_is_not_one() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let target = listener.local_addr().unwrap();
        assert_eq!(open_connections(&[target]), Some(0));
        let client = std::net::TcpStream::connect(target).unwrap();
        assert_eq!(open_connections(&[target]), Some(2), "one end waits in the accept queue");
        drop(client);
        let (accepted, _) = listener.accept().unwrap();
        assert_eq!(open_connections(&[target]), Some(2), "the target's end is still open");
        drop(accepted);
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(5);
        while open_connections(&[target]) != Some(0) {
            assert!(std::time::Instant::now() < deadline, "closed at both ends, yet still there");
            std::thread::yield_now();
        }
    }

    #[test]
    fn addresses_of_both_families_are_read() {
        assert_eq!(address("0100007F:1F90"), Some("127.0.0.1:8080".parse().unwrap()));
        let mapped = address("0000000000000000FFFF00000100007F:0050");
        assert_eq!(mapped, Some("127.0.0.1:80".parse().unwrap()));
        assert_eq!(address("nonsense"), None);
    }
}
