//! tokio-postgres, which sends many statements before it has read a reply: through a proxy it is told what
//! it is told directly, notices, notifications and cancellations included.

use std::fmt::Debug;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::{SinkExt, TryStreamExt};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::time::timeout;
use tokio_postgres::{AsyncMessage, Client, NoTls, Row};

use crate::drivers::{finish, postgres_proxy};
use crate::ends::LIMIT;
use crate::lab::Ground;

/// What somebody was told, and what came without having been asked for.
struct Listener {
    told: Vec<String>,
    asides: UnboundedReceiver<String>,
}

impl Listener {
    fn hears(&mut self, what: impl Debug) {
        self.told.push(format!("{what:?}"));
    }

    async fn hears_asides(&mut self, count: usize) {
        for _ in 0..count {
            let aside = timeout(LIMIT, self.asides.recv()).await.unwrap().unwrap();
            self.told.push(aside);
        }
    }
}

async fn connect(url: &str) -> (Client, Listener) {
    let (client, mut connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
    let (tell, asides) = unbounded_channel();
    tokio::spawn(async move {
        while let Some(message) = poll_fn(|context| connection.poll_message(context)).await {
            let aside = match message {
                Ok(AsyncMessage::Notification(news)) => {
                    format!("{} {}", news.channel(), news.payload())
                }
                Ok(other) => format!("{other:?}"),
                // Whoever asked is told the same.
                Err(_) => break,
            };
            let _ = tell.send(aside);
        }
    });
    (client, Listener { told: Vec::new(), asides })
}

fn first<'a, T: tokio_postgres::types::FromSql<'a>>(row: &'a Row) -> T {
    row.get(0)
}

async fn use_it(url: &str) -> Vec<String> {
    let (client, mut listener) = connect(url).await;
    client.batch_execute("CREATE TABLE told (id int8 PRIMARY KEY, name text)").await.unwrap();
    let client = Arc::new(client);
    many_at_once(&client, &mut listener).await;
    let mut client = Arc::into_inner(client).expect("every statement has been answered");
    transactions(&mut client, &mut listener).await;
    copies(&client, &mut listener).await;
    asides(&client, &mut listener).await;
    cancelled(&client, &mut listener).await;
    client.batch_execute("DROP TABLE told").await.unwrap();
    listener.told
}

/// One failing statement among many on the way fails alone.
async fn many_at_once(client: &Arc<Client>, listener: &mut Listener) {
    let statement = client.prepare("SELECT 100 / $1::int").await.unwrap();
    let ask = |number: i32| {
        let (client, statement) = (Arc::clone(client), statement.clone());
        tokio::spawn(async move {
            let answer = client.query_one(&statement, &[&number]).await;
            answer.map(|row| first::<i32>(&row)).map_err(|error| error.to_string())
        })
    };
    for answer in (-50..50).map(ask).collect::<Vec<_>>() {
        listener.hears(answer.await.unwrap());
    }
    let large = vec![0x61_u8; 8 << 20];
    let sql = "SELECT $1::bytea, length($1::bytea), ARRAY[1, NULL, 3], NULL::text, 1.5::float8";
    let row = client.query_one(sql, &[&large]).await.unwrap();
    let rest: (i32, Vec<Option<i32>>, Option<String>, f64) =
        (row.get(1), row.get(2), row.get(3), row.get(4));
    listener.hears((first::<Vec<u8>>(&row) == large, rest));
    listener.hears(client.simple_query("SELECT 1; SELECT 'two'; SELECT 3 / 0").await);
}

async fn transactions(client: &mut Client, listener: &mut Listener) {
    for id in [1_i64, 2, 1] {
        let mut transaction = client.transaction().await.unwrap();
        let inserted =
            transaction.execute("INSERT INTO told VALUES ($1, $2)", &[&id, &"name"]).await;
        listener.hears(&inserted);
        if inserted.is_ok() {
            let inner = transaction.transaction().await.unwrap();
            listener.hears(inner.execute("SELECT 1 / 0", &[]).await);
            inner.rollback().await.unwrap();
            transaction.commit().await.unwrap();
        }
    }
    let transaction = client.transaction().await.unwrap();
    let portal = transaction.bind("SELECT generate_series(1, 10)", &[]).await.unwrap();
    for _ in 0..3 {
        let rows = transaction.query_portal(&portal, 4).await.unwrap();
        listener.hears(rows.iter().map(first::<i32>).collect::<Vec<_>>());
    }
}

async fn copies(client: &Client, listener: &mut Listener) {
    for lines in ["7\tseven\n8\t\\N\n", "x\tno number\n"] {
        let mut sink = pin!(client.copy_in("COPY told FROM STDIN").await.unwrap());
        sink.as_mut().send(Bytes::from_static(lines.as_bytes())).await.unwrap();
        listener.hears(sink.finish().await);
    }
    let mut out = pin!(client.copy_out("COPY told TO STDOUT").await.unwrap());
    while let Some(line) = out.try_next().await.unwrap() {
        listener.hears(line);
    }
}

async fn asides(client: &Client, listener: &mut Listener) {
    let noticed = "DO $$ BEGIN RAISE NOTICE 'n'; RAISE WARNING 'w' USING HINT = 'h'; END $$";
    client.batch_execute(noticed).await.unwrap();
    client.batch_execute("LISTEN news").await.unwrap();
    let notify = "SELECT pg_notify('news', n::text) FROM generate_series(1, 50) n";
    client.batch_execute(notify).await.unwrap();
    listener.hears_asides(52).await;
}

async fn cancelled(client: &Client, listener: &mut Listener) {
    let token = client.cancel_token();
    let asleep = client.batch_execute("SELECT pg_sleep(600)");
    // Asked again and again, since the first may come before the statement.
    let cancelling = async {
        loop {
            token.cancel_query(NoTls).await.unwrap();
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let ended = tokio::select! {
        ended = timeout(LIMIT, asleep) => ended.unwrap(),
        () = cancelling => unreachable!("it goes on for ever"),
    };
    listener.hears(ended);
    // One of them may still come, and hit this instead.
    while client.batch_execute("SELECT 1").await.is_err() {}
}

#[tokio::test]
async fn tokio_postgres_is_told_the_same_as_directly() {
    let ground = Ground::start().await;
    let (proxy, url) = postgres_proxy(&ground).await;
    let through = use_it(&url).await;
    let directly = use_it(&ground.lab.postgres_url).await;
    assert_eq!(through.len(), directly.len());
    for (through, directly) in through.iter().zip(&directly) {
        assert_eq!(through, directly);
    }
    finish(proxy).await;
    ground.stop().await;
}
