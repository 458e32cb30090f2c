//! TLS: a certificate that is trusted, one that isn't, and bursts whose last byte is the last byte
//! of a record.

use std::sync::Arc;

use dupeproof::history::{InstanceId, Outcome, Sent};
use dupeproof::load::{TargetInstance, Tls};
use rustls::ServerConfig;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::BufReader;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use crate::rig::{Rig, burst, client, single};
use crate::server::{Server, created, read_request, reply, write};

struct Authority {
    certificate: CertificateDer<'static>,
    acceptor: TlsAcceptor,
}

fn authority() -> Authority {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let certificate = made.cert.der().clone();
    let key = PrivateKeyDer::Pkcs8(made.signing_key.serialize_der().into());
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.clone()], key)
        .unwrap();
    Authority { certificate, acceptor: TlsAcceptor::from(Arc::new(config)) }
}

type Stream = BufReader<TlsStream<tokio::net::TcpStream>>;

async fn server<F>(
    acceptor: TlsAcceptor,
    serve: impl Fn(Stream) -> F + Send + Sync + 'static,
) -> Server
where
    F: Future<Output = ()> + Send + 'static,
{
    let serve = Arc::new(serve);
    Server::start(move |stream, _| {
        let (acceptor, serve) = (acceptor.clone(), Arc::clone(&serve));
        async move {
            if let Ok(stream) = acceptor.accept(stream).await {
                serve(BufReader::new(stream)).await;
            }
        }
    })
    .await
}

fn target(server: &Server, tls: Tls) -> TargetInstance {
    TargetInstance { tls: Some(tls), ..TargetInstance::plain(InstanceId(0), server.address) }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_trusted_certificate_works_and_its_connections_are_kept() {
    let authority = authority();
    let server = server(authority.acceptor, |mut stream| async move {
        let mut answer = reply("202 Accepted", "", "");
        while read_request(&mut stream).await.is_some() {
            write(stream.get_mut(), &answer).await;
            answer = created("9");
        }
    })
    .await;
    let mut settings = client();
    settings.retries.at_most = 2;
    let tls = Tls::trusting("localhost", &[authority.certificate]).unwrap();
    let mut rig = Rig::new(vec![target(&server, tls)], settings).await;
    let summary = rig.run(&burst(5, 8)).await;
    assert_eq!((summary.tally.pending, summary.tally.acknowledged), (40, 40));
    assert_eq!(server.connections(), 40);
    assert!(rig.history().attempts.iter().all(|attempt| attempt.sent == Sent::Whole));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_untrusted_certificate_and_a_wrong_name_are_not_sent() {
    let (trusted, other) = (authority(), authority());
    let server = server(trusted.acceptor, |_| async { panic!("nothing may get here") }).await;
    let certificate = [trusted.certificate];
    let tls = [
        Tls::trusting("localhost", &[other.certificate]).unwrap(),
        Tls::trusting("elsewhere.test", &certificate).unwrap(),
    ];
    for tls in tls {
        let (attempt, _) = single(target(&server, tls), client()).await;
        assert_eq!((attempt.outcome, attempt.sent), (Outcome::NotSent, Sent::Nothing));
        assert!(attempt.failure.unwrap().contains("TLS with"));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reply_to_the_end_counts_only_when_tls_announces_the_end() {
    for announced in [true, false] {
        let authority = authority();
        let server = server(authority.acceptor, move |mut stream| async move {
            read_request(&mut stream).await;
            let text = "HTTP/1.1 201 Created\r\n\r\n{\"orderId\":1}";
            write(stream.get_mut(), text).await;
            tokio::io::AsyncWriteExt::flush(stream.get_mut()).await.unwrap();
            if announced {
                let _ = tokio::io::AsyncWriteExt::shutdown(stream.get_mut()).await;
            }
        })
        .await;
        let tls = Tls::trusting("localhost", &[authority.certificate]).unwrap();
        let (attempt, _) = single(target(&server, tls), client()).await;
        if announced {
            assert_eq!(attempt.outcome, Outcome::Acknowledged, "{:?}", attempt.failure);
        } else {
            assert_eq!(attempt.outcome, Outcome::Unknown);
            assert!(attempt.failure.unwrap().contains("TLS did not announce the end"));
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_with_more_than_its_reply_is_not_used_again() {
    let authority = authority();
    // The reply fills what is taken out of a session in one go: what follows stays in there, and
    // doesn't show on the socket.
    let bare = reply("202 Accepted", "", &"x".repeat(1_000)).len();
    let full = reply("202 Accepted", "", &"x".repeat(1_000 + 4_096 - bare));
    assert_eq!(full.len(), 4_096);
    let server = server(authority.acceptor, move |mut stream| {
        let mut answer = full.clone() + &created("of nobody");
        async move {
            while let Some(arrived) = read_request(&mut stream).await {
                write(stream.get_mut(), &answer).await;
                answer = created(&arrived.key());
            }
        }
    })
    .await;
    let mut settings = client();
    settings.retries.at_most = 1;
    let tls = Tls::trusting("localhost", &[authority.certificate]).unwrap();
    let mut rig = Rig::new(vec![target(&server, tls)], settings).await;
    let summary = rig.run(&burst(1, 1)).await;
    assert_eq!((summary.tally.pending, summary.tally.retries), (2, 1));
    assert_eq!(server.connections(), 2);
}
