//! The connection to a server, in plain or encrypted.
//!
//! An end of TLS that wasn't announced may be a cut, and is an error. Behind our own end it is one all
//! the same: servers such as Redis answer an end by closing without a word.

use std::io::{self, ErrorKind};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;

pub(super) enum ServerStream {
    Plain(TcpStream),
    Tls(Secret),
}

pub(super) struct Secret {
    stream: Box<TlsStream<TcpStream>>,
    /// We have said that nothing more comes from us.
    has_ended: bool,
}

impl From<TlsStream<TcpStream>> for ServerStream {
    fn from(stream: TlsStream<TcpStream>) -> Self {
        Self::Tls(Secret { stream: Box::new(stream), has_ended: false })
    }
}

/// What a reset needs to know of a connection.
pub(super) trait OverTcp {
    fn tcp(&self) -> &TcpStream;
}

impl OverTcp for TcpStream {
    fn tcp(&self) -> &TcpStream {
        self
    }
}

impl OverTcp for ServerStream {
    fn tcp(&self) -> &TcpStream {
        match self {
            Self::Plain(tcp) => tcp,
            Self::Tls(tls) => tls.stream.get_ref().0,
        }
    }
}

impl AsyncRead for ServerStream {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(tcp) => Pin::new(tcp).poll_read(context, buffer),
            Self::Tls(tls) => match ready!(Pin::new(&mut tls.stream).poll_read(context, buffer)) {
                Err(error) if tls.has_ended && error.kind() == ErrorKind::UnexpectedEof => {
                    Poll::Ready(Ok(()))
                }
                read => Poll::Ready(read),
            },
        }
    }
}

impl AsyncWrite for ServerStream {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Plain(tcp) => Pin::new(tcp).poll_write(context, bytes),
            Self::Tls(tls) => Pin::new(&mut tls.stream).poll_write(context, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(tcp) => Pin::new(tcp).poll_flush(context),
            Self::Tls(tls) => Pin::new(&mut tls.stream).poll_flush(context),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(tcp) => Pin::new(tcp).poll_shutdown(context),
            Self::Tls(tls) => {
                tls.has_ended = true;
                Pin::new(&mut tls.stream).poll_shutdown(context)
            }
        }
    }
}
