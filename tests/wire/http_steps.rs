//! What a connection to a downstream carries, as steps.

use dupeproof::history::Wire;

use crate::watched::{Watched, exchange};

#[tokio::test]
async fn a_call_belongs_to_whom_its_head_or_body_names() {
    let watched = Watched::set(Wire::Http).await;
    watched.expect_two().await;
    let link = watched.link();
    let body = r#"{"user":"u-run-001","amount":5}"#;
    let post = format!(
        "POST /charges/77 HTTP/1.1\r\nUser-Agent: payer/1\r\nExpect: 100-continue\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let told = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\n{}";
    exchange(&link, post.as_bytes(), told);
    let get = b"GET /charges?payment_id=k-run-000 HTTP/1.1\r\n\r\n";
    exchange(&link, get, b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
    let seen = watched.end().await;
    assert_eq!(
        seen.told(),
        ["http POST /charges/{} (pay) of 1: done 201", "http GET /charges of 0: failed 404",]
    );
    assert_eq!(seen.history.steps[0].subject.as_deref(), Some("/charges/77"));
    assert_eq!(seen.history.links[0].driver.as_deref(), Some("payer/1"));
}
