//! Makes the process and its sockets fit for a burst of thousands of connections in one instant.
//!
//! Three defaults would split such a burst by a second each, in silence: a backlog of 128 (the
//! kernel drops the SYN and the client sends it again after 1 s), a soft limit of 1,024 files
//! (axum sleeps when accept fails), and Nagle's algorithm on accepted sockets.

use std::{io, net::SocketAddr};

use axum::serve::{Listener, ListenerExt};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::net::{TcpListener, TcpSocket, TcpStream};

use super::error::ShopError;

const BACKLOG: u32 = 4_096;

/// Raises the soft limit of open files to the hard one.
pub fn raise_file_limit() -> Result<(), ShopError> {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: maximum,
        maximum,
    };
    setrlimit(Resource::Nofile, raised).map_err(|source| ShopError::System {
        doing: "raising the limit of open files",
        source: source.into(),
    })
}

/// `flag` is the one that the address came from, for the error.
pub fn listen(address: SocketAddr, flag: &'static str) -> Result<TcpListener, ShopError> {
    bind(address).map_err(|source| match source.kind() {
        io::ErrorKind::AddrInUse => ShopError::PortInUse {
            address,
            flag,
            source,
        },
        _ => ShopError::Listen {
            address,
            flag,
            source,
        },
    })
}

/// The address that port 0 became.
pub fn address_of(listener: &TcpListener) -> Result<SocketAddr, ShopError> {
    listener.local_addr().map_err(|source| ShopError::System {
        doing: "asking for the address of the socket",
        source,
    })
}

pub fn without_delay(listener: TcpListener) -> impl Listener<Io = TcpStream, Addr = SocketAddr> {
    listener.tap_io(|stream| {
        // It fails only on a connection that is gone already.
        let _ = stream.set_nodelay(true);
    })
}

fn bind(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = match address {
        SocketAddr::V4(_) => TcpSocket::new_v4()?,
        SocketAddr::V6(_) => TcpSocket::new_v6()?,
    };
    // A restart must not wait for the connections of the killed predecessor to time out.
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}
