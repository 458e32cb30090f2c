//! Applications that give leases back with redis-rs, over one connection for all that they do.

use redis::aio::{ConnectionLike, ConnectionManager};
use redis::{AsyncCommands, Client, RedisResult, Script};

use super::page::version_of;
use super::scenes::{Scene, Told, until_certain};

const UNLOCK: &str =
    "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0";

fn client(scene: &Scene) -> Client {
    Client::open(format!("redis://127.0.0.1:{}/", scene.port)).unwrap()
}

/// One that stays dead once it is: the application connects again where it is told so.
pub async fn multiplexed(scene: Scene) -> Told {
    let client = client(&scene);
    let mut connection = client.get_multiplexed_async_connection().await.unwrap();
    let key = lock(&mut connection, &scene).await;
    let attempts = until_certain(async || {
        let told = unlock(&mut connection, &key).await;
        if told.as_ref().is_err_and(redis::RedisError::is_unrecoverable_error) {
            connection = client.get_multiplexed_async_connection().await.unwrap();
        }
        vec![in_word(told)]
    })
    .await;
    let after = use_it(&mut connection, &scene).await;
    let driver = "redis-rs, multiplexed".to_owned();
    Told { driver, version: version_of("redis"), attempts, after }
}

/// One that connects again by itself.
pub async fn managed(scene: Scene) -> Told {
    let mut connection = ConnectionManager::new(client(&scene)).await.unwrap();
    let key = lock(&mut connection, &scene).await;
    let attempts = until_certain(async || vec![in_word(unlock(&mut connection, &key).await)]).await;
    let after = use_it(&mut connection, &scene).await;
    let driver = "redis-rs, ConnectionManager".to_owned();
    Told { driver, version: version_of("redis"), attempts, after }
}

/// Takes the lease, when the server knows the script that gives it back.
async fn lock(connection: &mut (impl ConnectionLike + Send), scene: &Scene) -> String {
    for key in [format!("warm:{}", scene.key), scene.key.clone()] {
        let mut grant = redis::cmd("SET");
        grant.arg(format!("lock:{key}")).arg(format!("token-of-{key}"));
        let () = grant.arg("NX").arg("PX").arg(60_000).query_async(connection).await.unwrap();
        if key != scene.key {
            unlock(connection, &key).await.unwrap();
        }
    }
    scene.key.clone()
}

async fn unlock(connection: &mut (impl ConnectionLike + Send), key: &str) -> RedisResult<i64> {
    let script = Script::new(UNLOCK);
    let mut asked = script.key(format!("lock:{key}"));
    asked.arg(format!("token-of-{key}")).invoke_async(connection).await
}

async fn use_it(connection: &mut impl AsyncCommands, scene: &Scene) -> Vec<String> {
    let mut after = Vec::new();
    for number in 0..6 {
        let key = format!("after:{}:{number}", scene.key);
        let () = connection.set(&key, number).await.unwrap();
        after.push(connection.get(&key).await.unwrap());
    }
    after
}

fn in_word(told: RedisResult<i64>) -> String {
    match told {
        Ok(number) => number.to_string(),
        Err(error) => error.code().map_or_else(|| error.to_string(), str::to_owned),
    }
}
