//! The HTTP surface: orders and their steps, tokens, health, and the counter on a port of its own.
//!
//! The counter counts every POST that arrived, whatever is answered: right behind the body, before
//! anything can refuse the request. It has its own port so that asking for it is never part of what
//! is measured.

use std::{sync::Arc, time::Duration};

use axum::{
    Json, Router,
    body::Bytes,
    extract::{Path, State, rejection::BytesRejection},
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use serde::Serialize;
use tokio::time::timeout;

use super::{
    answer::Answer,
    chain,
    error::ShopError,
    headers,
    life::{self, Step, Subject},
    metrics::{CONTENT_TYPE, Came},
    order, reconciliation, record, speak,
    state::Shop,
    submit_token,
};

const HEALTH_WAIT: Duration = Duration::from_secs(2);

#[derive(Serialize)]
struct Count {
    instance: u32,
    posts: u64,
}

pub fn orders(shop: Arc<Shop>) -> Router {
    Router::new()
        .route("/orders", post(post_order))
        .route("/orders/{id}", get(get_order))
        .route("/orders/by-key/{key}", get(get_order_by_key))
        .route("/orders/{id}/pay", post(pay))
        .route("/orders/{id}/close", post(close))
        .route("/tokens", post(post_token))
        .route("/reconciliation", get(open_cases))
        .route("/metrics", get(metrics))
        .route("/healthz", get(health))
        .fallback(async || Answer::code(StatusCode::NOT_FOUND, "UNKNOWN_ROUTE"))
        .method_not_allowed_fallback(async || {
            Answer::code(StatusCode::METHOD_NOT_ALLOWED, "WRONG_METHOD")
        })
        .with_state(shop)
}

pub fn counter(shop: Arc<Shop>) -> Router {
    Router::new().route("/", get(count)).with_state(shop)
}

/// The chain runs in a task of its own: a client that hangs up must not stop it half-way, with
/// the order committed and the record still in progress.
async fn post_order(
    State(shop): State<Arc<Shop>>,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Answer {
    shop.note_post();
    let body = match body {
        Ok(body) => body,
        Err(rejection) => return refuse(&shop, Answer::unread(&rejection)),
    };
    let intent = match shop.reader.read(&headers, &body) {
        Ok(intent) => intent,
        Err(refusal) => return refuse(&shop, refusal.answer()),
    };
    shop.chains
        .spawn(chain::place(Arc::clone(&shop), intent))
        .await
        .unwrap_or_else(|_| Answer::interrupted())
}

fn refuse(shop: &Shop, answer: Answer) -> Answer {
    shop.metrics.note_attempt(Came::Invalid);
    answer
}

async fn get_order(State(shop): State<Arc<Shop>>, Path(id): Path<String>) -> Answer {
    let found = match id.parse() {
        Ok(id) => order::by_id(&shop, id).await,
        Err(_) => Ok(None),
    };
    match found {
        Ok(Some(order)) => Answer::current(&order),
        Ok(None) => Answer::unknown_order(),
        Err(error) => {
            speak::problem(shop.settings.instance, "GET /orders", &error);
            Answer::failure(&error)
        }
    }
}

/// Where a duplicate is told to look while its order is being placed.
async fn get_order_by_key(
    State(shop): State<Arc<Shop>>,
    Path(key): Path<String>,
    headers: HeaderMap,
) -> Answer {
    let user = match headers::user(&headers) {
        Ok(user) => user,
        Err(refusal) => return refusal.answer(),
    };
    let found = match order::by_key(&shop, user, &key).await {
        Ok(Some(order)) => return Answer::current(&order),
        Ok(None) => record::is_there(&shop, user, &key).await,
        Err(error) => Err(error),
    };
    match found {
        Ok(true) => Answer::come_back_to("IN_PROGRESS", Some(&key)),
        Ok(false) => Answer::unknown_order(),
        Err(error) => {
            speak::problem(shop.settings.instance, "GET /orders/by-key", &error);
            Answer::failure(&error)
        }
    }
}

async fn pay(State(shop): State<Arc<Shop>>, Path(id): Path<String>, headers: HeaderMap) -> Answer {
    step(shop, &id, &headers, Step::Pay).await
}

async fn close(
    State(shop): State<Arc<Shop>>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Answer {
    step(shop, &id, &headers, Step::Close).await
}

/// In a task of its own, as the chain is.
async fn step(shop: Arc<Shop>, id: &str, headers: &HeaderMap, step: Step) -> Answer {
    shop.note_post();
    let user = match headers::user(headers) {
        Ok(user) => user.to_owned(),
        Err(refusal) => return refusal.answer(),
    };
    let Ok(order_id) = id.parse() else {
        return Answer::unknown_order();
    };
    let going = {
        let shop = Arc::clone(&shop);
        async move { life::go(&shop, &Subject { user, order_id }, step).await }
    };
    shop.chains.spawn(going).await.unwrap_or_else(|_| Answer::interrupted())
}

async fn post_token(State(shop): State<Arc<Shop>>, headers: HeaderMap) -> Answer {
    shop.note_post();
    let user = match headers::user(&headers) {
        Ok(user) => user,
        Err(refusal) => return refusal.answer(),
    };
    submit_token::issue(&shop, user).await.unwrap_or_else(|error| {
        speak::problem(shop.settings.instance, "POST /tokens", &error);
        Answer::failure(&error)
    })
}

async fn open_cases(State(shop): State<Arc<Shop>>) -> Response {
    match reconciliation::open(&shop).await {
        Ok(cases) => cases.into_response(),
        Err(error) => {
            speak::problem(shop.settings.instance, "GET /reconciliation", &error);
            Answer::failure(&error).into_response()
        }
    }
}

async fn metrics(State(shop): State<Arc<Shop>>) -> Response {
    ([(header::CONTENT_TYPE, CONTENT_TYPE)], shop.metrics.text()).into_response()
}

async fn health(State(shop): State<Arc<Shop>>) -> Answer {
    match timeout(HEALTH_WAIT, ping(&shop)).await {
        Ok(Ok(())) => Answer::code(StatusCode::OK, "READY"),
        Ok(Err(error)) => {
            speak::problem(shop.settings.instance, "GET /healthz", &error);
            Answer::code(StatusCode::SERVICE_UNAVAILABLE, "NOT_READY")
        }
        Err(_) => Answer::code(StatusCode::SERVICE_UNAVAILABLE, "NOT_READY"),
    }
}

async fn ping(shop: &Shop) -> Result<(), ShopError> {
    let doing = "asking whether it is up";
    sqlx::query("SELECT 1")
        .execute(&shop.postgres)
        .await
        .map_err(|source| ShopError::Postgres { doing, source })?;
    redis::cmd("PING")
        .query_async::<()>(&mut shop.redis.clone())
        .await
        .map_err(|source| ShopError::Redis { doing, source })
}

async fn count(State(shop): State<Arc<Shop>>) -> Json<Count> {
    Json(Count { instance: shop.settings.instance, posts: shop.posts() })
}
