//! An application that places its orders with tokio-postgres, whose clients stay closed once they are: its
//! pool of one looks whether its client is, as pools for it do.

use tokio::time::timeout;
use tokio_postgres::{Client, Error, NoTls};

use crate::ends::LIMIT;

use super::page::version_of;
use super::scenes::{Scene, Told, until_certain};

struct Pool {
    port: u16,
    client: Option<Client>,
}

impl Pool {
    async fn client(&mut self) -> Result<&mut Client, Error> {
        if self.client.as_ref().is_none_or(Client::is_closed) {
            let settings =
                format!("host=127.0.0.1 port={} user=postgres dbname=postgres", self.port);
            let (client, connection) = tokio_postgres::connect(&settings, NoTls).await?;
            // Whoever asks is told its error too.
            tokio::spawn(async move { drop(connection.await) });
            self.client = Some(client);
        }
        Ok(self.client.as_mut().expect("there is one now"))
    }

    /// What can be repeated at once is, on the same connection.
    async fn order(&mut self, key: &str) -> Vec<String> {
        let client = match self.client().await {
            Ok(client) => client,
            Err(error) => return vec![in_word(&error)],
        };
        let mut told = Vec::new();
        while told.last().is_none_or(|last| last == "40001") {
            let placed = placed(client, key).await;
            told.push(placed.map_or_else(|error| in_word(&error), |()| "placed".to_owned()));
        }
        told
    }
}

pub async fn orders(scene: Scene) -> Told {
    let patience = scene.patience.unwrap_or(LIMIT);
    let mut pool = Pool { port: scene.port, client: None };
    let mut attempt = async |key: &str| match timeout(patience, pool.order(key)).await {
        Ok(told) => told,
        Err(_) => vec!["given up".to_owned()],
    };
    let attempts = until_certain(async || attempt(&scene.key).await).await;
    let mut after = Vec::new();
    for number in 0..6 {
        let key = format!("{}-after-{number}", scene.key);
        after.extend(until_certain(async || attempt(&key).await).await);
    }
    Told {
        driver: "tokio-postgres".to_owned(),
        version: version_of("tokio-postgres"),
        attempts,
        after,
    }
}

async fn placed(client: &mut Client, key: &str) -> Result<(), Error> {
    let transaction = client.transaction().await?;
    for insert in ["INSERT INTO orders VALUES ($1)", "INSERT INTO lines VALUES ($1)"] {
        transaction.execute(insert, &[&key]).await?;
    }
    transaction.commit().await
}

fn in_word(error: &Error) -> String {
    let code = error.code().map(|code| code.code().to_owned());
    code.unwrap_or_else(|| error.to_string())
}
