//! Setup and teardown, in real databases.

use dupeproof::audit::Verdict;
use dupeproof::codes;
use dupeproof::profile::Target;

use crate::attached::server;
use crate::rig::{Database, Rig, TABLES, full, profile, python};

#[tokio::test]
async fn setup_and_teardown_know_the_users_and_products_of_the_run() {
    let database = Database::start().await;
    let mut profile = profile(Target::Launched(python(&server("self.answer(503, b'{}')"))));
    profile.postgres = database.as_profile();
    profile.setup.sql = vec![
        TABLES.to_owned(),
        "CREATE TABLE stock (id bigint PRIMARY KEY, available int); \
         INSERT INTO stock SELECT * FROM unnest({products}, {stocks})"
            .to_owned(),
        "CREATE TABLE buyers AS SELECT unnest({users}) AS name".to_owned(),
    ];
    profile.teardown.sql = vec!["DELETE FROM buyers WHERE name = ANY ({users})".to_owned()];
    let (products, stock) = (profile.products.count, profile.products.stock);
    let outcome = Rig::new().drill(profile).await.unwrap();
    assert!(outcome.trouble.is_none(), "{:?}", outcome.trouble);
    let stocked = database.ask("SELECT count(*) || ' of ' || min(available) FROM stock").await;
    assert_eq!(stocked, format!("{products} of {stock}"));
    assert_eq!(database.ask("SELECT count(*)::text FROM buyers").await, "0");
    database.stop().await;
}

#[tokio::test]
async fn a_statement_that_fails_is_named_and_the_teardown_still_runs() {
    let database = Database::start().await;
    let mut profile = profile(Target::Launched(python(&server("pass"))));
    profile.postgres = database.as_profile();
    profile.setup.sql = vec![TABLES.to_owned(), "INSERT INTO no_such_table VALUES (1)".to_owned()];
    profile.teardown.sql = vec!["DROP TABLE orders".to_owned()];
    let error = Rig::new().drill(profile).await.unwrap_err();
    assert_eq!(error.code().unwrap().id, codes::E10.id);
    let text = full(&error);
    assert!(text.contains("setup statement 2 (`INSERT INTO no_such_table VALUES (1)`)"), "{text}");
    assert_eq!(database.ask("SELECT (to_regclass('orders') IS NULL)::text").await, "true");
    database.stop().await;
}

#[tokio::test]
async fn a_teardown_that_fails_is_told_beside_the_verdict() {
    let rig = Rig::new();
    let mut profile = profile(Target::Launched(python(&server("self.answer(503, b'{}')"))));
    profile.setup.sql = vec![TABLES.to_owned()];
    profile.teardown.sql = vec!["DROP TABLE nothing".to_owned()];
    let outcome = rig.drill(profile).await.unwrap();
    assert_eq!(outcome.result.verdict, Verdict::Inconclusive);
    let text = full(&outcome.trouble.unwrap());
    assert!(text.contains("teardown statement 1 (`DROP TABLE nothing`) failed"), "{text}");
}
