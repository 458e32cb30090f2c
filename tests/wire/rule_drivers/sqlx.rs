//! An application that places its orders with sqlx.

use sqlx::pool::PoolConnection;
use sqlx::postgres::PgPoolOptions;
use sqlx::{Acquire, Error, PgPool, Postgres};
use tokio::time::timeout;

use crate::ends::LIMIT;

use super::page::version_of;
use super::scenes::{Scene, Told, until_certain};

pub async fn orders(scene: Scene) -> Told {
    let url = format!("postgres://postgres@127.0.0.1:{}/postgres?sslmode=disable", scene.port);
    let patience = scene.patience.unwrap_or(LIMIT);
    let options = PgPoolOptions::new().max_connections(1).acquire_timeout(patience);
    let pool = options.connect(&url).await.unwrap();
    let attempt = async |key: &str| match timeout(patience, order(&pool, key)).await {
        Ok(told) => told,
        Err(_) => vec!["given up".to_owned()],
    };
    let attempts = until_certain(async || attempt(&scene.key).await).await;
    let mut after = Vec::new();
    for number in 0..6 {
        let key = format!("{}-after-{number}", scene.key);
        after.extend(until_certain(async || attempt(&key).await).await);
    }
    timeout(LIMIT, pool.close()).await.expect("it can be closed");
    Told { driver: "sqlx".to_owned(), version: version_of("sqlx"), attempts, after }
}

/// What can be repeated at once is, on the same connection.
async fn order(pool: &PgPool, key: &str) -> Vec<String> {
    let mut connection = match pool.acquire().await {
        Ok(connection) => connection,
        Err(error) => return vec![in_word(&error)],
    };
    let mut told = Vec::new();
    while told.last().is_none_or(|last| last == "40001") {
        let placed = placed(&mut connection, key).await;
        told.push(placed.map_or_else(|error| in_word(&error), |()| "placed".to_owned()));
    }
    told
}

async fn placed(connection: &mut PoolConnection<Postgres>, key: &str) -> Result<(), Error> {
    let mut transaction = connection.begin().await?;
    for insert in ["INSERT INTO orders VALUES ($1)", "INSERT INTO lines VALUES ($1)"] {
        sqlx::query(insert).bind(key).execute(&mut *transaction).await?;
    }
    transaction.commit().await
}

fn in_word(error: &Error) -> String {
    match error {
        Error::Database(error) => error.code().unwrap_or_default().into_owned(),
        Error::Io(error) => format!("Io {:?}", error.kind()),
        Error::PoolTimedOut => "PoolTimedOut".to_owned(),
        other => other.to_string(),
    }
}
