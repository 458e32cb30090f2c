//! The provider as the shop sees it: one request, one answer, within a time limit.
//!
//! Each request has a connection of its own, by hyper's lower-level client, which sends what it is
//! given once and never again: a pool would resend on a connection that died (hyper-util's does for
//! what was cancelled, reqwest for protocol errors), and a charge would be asked for twice without
//! the shop's knowledge. Everything but a clear word is [`Told::Unclear`].

use std::time::Duration;

use axum::{
    body::Bytes,
    http::{Method, Request, StatusCode, Uri, header},
};
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use serde::{Deserialize, Serialize};
use tokio::{net::TcpStream, time::timeout};
use tokio_util::task::AbortOnDropHandle;

use crate::shop::{error::ShopError, life::Subject};

/// What the provider says about a payment id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Told {
    Charged,
    Declined,
    /// It has never heard of it.
    Unknown,
    /// No answer, or one that says nothing.
    Unclear {
        reason: String,
    },
}

#[derive(Debug, Clone)]
pub struct Provider {
    /// Host and port: where to connect to, and what `Host` says.
    address: String,
    /// Without a slash at its end.
    base_path: String,
    limit: Duration,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ChargeBody<'a> {
    payment_request_id: &'a str,
    order_id: String,
    user_id: &'a str,
    amount: i64,
}

#[derive(Deserialize)]
struct StateBody {
    state: String,
}

impl Provider {
    pub fn new(url: &str, limit: Duration) -> Result<Self, ShopError> {
        let refused = |reason| ShopError::PaymentsUrl { reason };
        let uri: Uri = url.parse().map_err(|_| refused("it can't be read"))?;
        if uri.scheme_str() != Some("http") {
            return Err(refused("it must begin with http://"));
        }
        let host = uri.host().ok_or_else(|| refused("it names no host"))?;
        let port = uri.port_u16().unwrap_or(80);
        Ok(Self {
            address: format!("{host}:{port}"),
            base_path: uri.path().trim_end_matches('/').to_owned(),
            limit,
        })
    }

    /// Asks for a charge. The same id and content is the same charge.
    pub async fn charge(&self, id: &str, subject: &Subject, amount: i64) -> Told {
        let body = ChargeBody {
            payment_request_id: id,
            order_id: subject.order_id.to_string(),
            user_id: &subject.user,
            amount,
        };
        let body = serde_json::to_vec(&body).expect("strings and a number always serialise");
        match self.exchange(Method::POST, "/charges", body).await {
            Ok((StatusCode::OK | StatusCode::CREATED, _)) => Told::Charged,
            Ok((StatusCode::PAYMENT_REQUIRED, _)) => Told::Declined,
            Ok((status, _)) => Told::Unclear { reason: format!("POST /charges: {status}") },
            Err(reason) => Told::Unclear { reason: format!("POST /charges: {reason}") },
        }
    }

    /// Asks what is known of a charge.
    pub async fn state(&self, id: &str) -> Told {
        let unclear = |reason| Told::Unclear { reason: format!("GET /charges/{id}: {reason}") };
        match self.exchange(Method::GET, &format!("/charges/{id}"), Vec::new()).await {
            Ok((StatusCode::OK, body)) => match serde_json::from_slice::<StateBody>(&body) {
                Ok(body) if body.state == "SUCCEEDED" => Told::Charged,
                Ok(body) if body.state == "DECLINED" => Told::Declined,
                Ok(body) => unclear(format!("its state is {}", body.state)),
                Err(error) => unclear(error.to_string()),
            },
            Ok((StatusCode::NOT_FOUND, _)) => Told::Unknown,
            Ok((status, _)) => unclear(status.to_string()),
            Err(reason) => unclear(reason),
        }
    }

    async fn exchange(
        &self,
        method: Method,
        path: &str,
        body: Vec<u8>,
    ) -> Result<(StatusCode, Bytes), String> {
        match timeout(self.limit, self.exchange_without_limit(method, path, body)).await {
            Ok(exchanged) => exchanged,
            Err(_) => Err(format!("no answer within {:?}", self.limit)),
        }
    }

    async fn exchange_without_limit(
        &self,
        method: Method,
        path: &str,
        body: Vec<u8>,
    ) -> Result<(StatusCode, Bytes), String> {
        let stream = TcpStream::connect(&self.address).await.map_err(|error| error.to_string())?;
        // It fails only on a connection that is gone already.
        let _ = stream.set_nodelay(true);
        let told = |error: hyper::Error| error.to_string();
        let (mut sender, connection) =
            http1::handshake(TokioIo::new(stream)).await.map_err(told)?;
        // Its end shows in the exchange.
        let _connection = AbortOnDropHandle::new(tokio::spawn(connection));
        let request = Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.base_path))
            .header(header::HOST, &self.address)
            .header(header::CONTENT_TYPE, "application/json")
            .header(header::CONNECTION, "close")
            .body(Full::new(Bytes::from(body)))
            .map_err(|error| error.to_string())?;
        let response = sender.send_request(request).await.map_err(told)?;
        let status = response.status();
        let body = response.into_body().collect().await.map_err(told)?;
        Ok((status, body.to_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_plain_http_with_a_host() {
        let of = |url| Provider::new(url, Duration::from_secs(1));
        let provider = of("http://127.0.0.1:8090/v1/").expect("a URL");
        assert_eq!(provider.address, "127.0.0.1:8090");
        assert_eq!(provider.base_path, "/v1");
        assert_eq!(of("http://pay.internal").expect("a URL").address, "pay.internal:80");
        for url in ["https://pay", "127.0.0.1:8090", "http://", ""] {
            assert!(of(url).is_err(), "{url}");
        }
    }
}
