//! The start and the end of the provider.
//!
//! The connections are served by hyper itself and not by axum's own loop, because a dropped reply
//! must be one: a service that fails ends its connection without a byte of an answer, and axum's
//! services can't fail.

use std::{
    io::{self, Write},
    net::SocketAddr,
    sync::Arc,
    time::Duration,
};

use axum::{Router, response::Response};
use hyper::{Request, body::Incoming, server::conn::http1, service::Service, service::service_fn};
use hyper_util::{rt::TokioIo, service::TowerToHyperService};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde::Serialize;
use tokio::{
    net::{TcpListener, TcpSocket, TcpStream},
    signal::unix::{SignalKind, signal},
    time::{sleep, timeout},
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::{
    answer::Dropped,
    control,
    error::PaymentsError,
    ledger::Ledger,
    routes::{self, Provider},
    settings::PaymentsArgs,
};

const BACKLOG: u32 = 4_096;
const GOODBYE: Duration = Duration::from_secs(2);
/// After an accept that failed, as it does for want of file descriptors.
const ACCEPT_AGAIN: Duration = Duration::from_millis(20);

/// The greeting: `{"listening":"127.0.0.1:8090","control":null}`
#[derive(Serialize)]
struct Listening {
    listening: SocketAddr,
    control: Option<SocketAddr>,
}

/// Why a connection ends without an answer.
#[derive(Debug, thiserror::Error)]
#[error("the reply is dropped on purpose")]
struct DroppedOnPurpose;

/// Serves until SIGTERM or SIGINT.
pub async fn serve(args: PaymentsArgs) -> Result<(), PaymentsError> {
    raise_file_limit()?;
    let charges = listen(args.listen, "listen")?;
    let control =
        args.control_listen.map(|address| listen(address, "control-listen")).transpose()?;
    let end_signal = end_signal()?;
    let ledger = Arc::new(Ledger::open(args.log.as_deref(), args.habits)?);
    greet(&charges, control.as_ref())?;

    let (tasks, ending) = (TaskTracker::new(), CancellationToken::new());
    let provider = Provider { ledger: Arc::clone(&ledger), under_way: tasks.clone() };
    tasks.spawn(accept(charges, routes::charges(provider), tasks.clone(), ending.clone()));
    if let Some(control) = control {
        tasks.spawn(accept(control, control::control(ledger), tasks.clone(), ending.clone()));
    }
    end_signal.await;
    ending.cancel();
    tasks.close();
    // Whoever is still at it then is cut off, as by a kill.
    let _ = timeout(GOODBYE, tasks.wait()).await;
    Ok(())
}

async fn accept(
    listener: TcpListener,
    router: Router,
    tasks: TaskTracker,
    ending: CancellationToken,
) {
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = ending.cancelled() => return,
        };
        match accepted {
            Ok((stream, _)) => {
                tasks.spawn(converse(stream, router.clone(), ending.clone()));
            }
            Err(_) => sleep(ACCEPT_AGAIN).await,
        }
    }
}

async fn converse(stream: TcpStream, router: Router, ending: CancellationToken) {
    // It fails only on a connection that is gone already.
    let _ = stream.set_nodelay(true);
    let router = TowerToHyperService::new(router);
    let service = service_fn(move |request: Request<Incoming>| {
        let answering = router.call(request);
        async move {
            let Ok(response): Result<Response, std::convert::Infallible> = answering.await;
            match response.extensions().get::<Dropped>() {
                Some(Dropped) => Err(DroppedOnPurpose),
                None => Ok(response),
            }
        }
    });
    let connection = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
    tokio::pin!(connection);
    tokio::select! {
        // Its end is the client's, or a drop of ours: neither is news.
        _ = connection.as_mut() => return,
        () = ending.cancelled() => connection.as_mut().graceful_shutdown(),
    }
    let _ = connection.await;
}

/// Each charge under way has a connection, and bursts have thousands.
fn raise_file_limit() -> Result<(), PaymentsError> {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: maximum, maximum };
    setrlimit(Resource::Nofile, raised).map_err(|source| PaymentsError::System {
        doing: "raising the limit of open files",
        source: source.into(),
    })
}

fn listen(address: SocketAddr, flag: &'static str) -> Result<TcpListener, PaymentsError> {
    if !address.ip().is_loopback() {
        return Err(PaymentsError::NotLoopback { flag, address });
    }
    bind(address).map_err(|source| PaymentsError::Listen { flag, address, source })
}

fn bind(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    // A restart must not wait for the connections of the killed predecessor to time out.
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// One line of JSON on stdout, for whoever started the provider and waits for its ports.
fn greet(charges: &TcpListener, control: Option<&TcpListener>) -> Result<(), PaymentsError> {
    let failed = |source| PaymentsError::System { doing: "announcing the ports on stdout", source };
    let listening = charges.local_addr().map_err(failed)?;
    let control = control.map(TcpListener::local_addr).transpose().map_err(failed)?;
    let line = serde_json::to_string(&Listening { listening, control })
        .expect("two addresses always serialise");
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "{line}").and_then(|()| stdout.flush()).map_err(failed)
}

/// Ends at the first SIGTERM or SIGINT; both are caught from now on.
fn end_signal() -> Result<impl Future<Output = ()>, PaymentsError> {
    let failed = |source| PaymentsError::System { doing: "listening for signals", source };
    let mut terminate = signal(SignalKind::terminate()).map_err(failed)?;
    let mut interrupt = signal(SignalKind::interrupt()).map_err(failed)?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    })
}
