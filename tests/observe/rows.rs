//! The rows of a run.

use dupeproof::history::ConstraintKind;
use dupeproof::observe::{ObserveError, Subject};

use crate::Database;
use crate::tables::{SCHEMA, own, tables};

fn subject() -> Subject {
    let texts = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect();
    Subject { users: texts(&["u1", "u2"]), keys: texts(&["k1", "k2"]), products: vec![7] }
}

#[tokio::test]
async fn a_snapshot_has_all_that_an_audit_reads() {
    let database = Database::with(SCHEMA).await;
    let mut tables = tables();
    tables.sql = vec![
        own("counts", "SELECT \"user\", count(*) AS orders FROM \"order\" GROUP BY 1 ORDER BY 1; "),
        own("null", "SELECT NULL::int AS nothing, true AS yes -- and a comment"),
    ];
    let observer = database.observer(&tables, subject()).await.unwrap();
    let baseline = observer.baseline().await.unwrap();
    assert_eq!((baseline.orders.len(), baseline.custom.len()), (0, 2));
    database
        .run(
            r#"INSERT INTO "order" VALUES
                (1, 'u1', 'k1', 7, 2, 'PAID', '1970-01-01 00:00:02Z', '1970-01-01 00:00:03Z', true);
                INSERT INTO "order" VALUES (2, 'u9', 'k9', 8, 1), (3, 'u9', NULL, 8, 1);
            INSERT INTO stock VALUES (7, 5), (8, 5);
            INSERT INTO moves ("order", product, delta) VALUES (1, 7, -2), (NULL, 7, 10), (2, 8, -1);"#,
        )
        .await;
    let rows = observer.snapshot().await.unwrap();
    let [row] = rows.orders.as_slice() else { panic!("{:?}", rows.orders) };
    assert_eq!(
        (row.created_us, row.paid_us, row.closed_us),
        (Some(2_000_000), Some(3_000_000), Some(0))
    );
    let moved: Vec<_> =
        rows.movements.unwrap().into_iter().map(|it| (it.order, it.delta)).collect();
    assert_eq!(moved, [(Some("1".into()), -2), (None, 10)]);
    let text = |text: &str| Some(text.to_owned());
    assert_eq!(rows.custom[0].columns, ["user", "orders"]);
    assert_eq!(rows.custom[0].rows, [[text("u1"), text("1")], [text("u9"), text("2")]]);
    assert_eq!(rows.custom[1].rows, [[None, text("true")]]);

    observer.expect_orders(["3".to_owned(), "not-a-number".to_owned()]);
    let rows = observer.snapshot().await.unwrap();
    let ids: Vec<String> = rows.orders.iter().map(|row| row.id.to_string()).collect();
    assert_eq!(ids, ["1", "3"], "an acknowledged order is read whatever it holds");

    let index = rows.constraints.iter().find(|it| it.name == "one_per_key").unwrap();
    assert_eq!(
        (index.columns.join(","), index.nullable.join(",")),
        ("user,key".into(), "key".into())
    );
    assert!(rows.constraints.iter().any(|it| it.kind == ConstraintKind::Check));
    observer.close().await;
    database.end().await;
}

#[tokio::test]
async fn users_of_a_pool_may_have_orders_and_others_may_not() {
    let database = Database::with(SCHEMA).await;
    database.run(r#"INSERT INTO "order" VALUES (1, 'u1', 'old', 8, 1)"#).await;
    let observer = database.observer(&tables(), subject()).await.unwrap();
    let refused = observer.baseline().await;
    assert!(matches!(refused, Err(ObserveError::NotFresh { found: 1, .. })), "{refused:?}");
    let observer = observer.with_existing_users();
    assert_eq!(observer.baseline().await.unwrap().orders.len(), 1);
    database.run(r#"INSERT INTO "order" VALUES (2, 'u9', 'k1', 8, 1)"#).await;
    assert!(matches!(observer.baseline().await, Err(ObserveError::NotFresh { .. })));
    observer.close().await;
    database.end().await;
}

#[tokio::test]
async fn an_own_check_that_cannot_be_run_says_why_and_the_others_are_run() {
    let database = Database::with(SCHEMA).await;
    for (query, why) in [
        ("SELECT nonsense FROM \"order\"", "nonsense\" does not exist (SQLSTATE 42703)"),
        ("SELECT 1) x; DELETE FROM stock; SELECT (1", "syntax error"),
        ("SELECT setval('moves_id_seq', 7)", "read-only transaction"),
        ("SELECT generate_series(0, 100000)", "more than 100,000 rows"),
    ] {
        let mut tables = tables();
        tables.sql = vec![own("wrong", query), own("fine", "SELECT 1 AS one")];
        let observer = database.observer(&tables, subject()).await.unwrap();
        let custom = observer.snapshot().await.unwrap().custom;
        let [wrong, fine] = custom.as_slice() else { panic!("{custom:?}") };
        let trouble = wrong.trouble.as_deref().unwrap();
        assert!(trouble.contains(why) && !trouble.contains(" at line "), "{trouble}");
        assert!(wrong.rows.is_empty());
        assert_eq!((fine.rows.len(), fine.trouble.as_deref()), (1, None));
        observer.close().await;
    }
    database.end().await;
}

#[tokio::test]
async fn an_index_without_distinct_nulls_lets_none_through() {
    let script = "CREATE TABLE one (id int, a text, b text);
        CREATE UNIQUE INDEX strict ON one (a, b) NULLS NOT DISTINCT;
        CREATE UNIQUE INDEX lax ON one (a, b)";
    let database = Database::with(script).await;
    let mut tables = tables();
    tables.orders.table = "one".to_owned();
    (tables.stock, tables.movements) = (None, None);
    for column in [
        &mut tables.orders.user,
        &mut tables.orders.key,
        &mut tables.orders.product,
        &mut tables.orders.quantity,
        &mut tables.orders.status,
        &mut tables.orders.created,
        &mut tables.orders.paid_at,
        &mut tables.orders.closed_at,
    ] {
        *column = None;
    }
    let observer = database.observer(&tables, subject()).await.unwrap();
    let constraints = observer.snapshot().await.unwrap().constraints;
    let nullable =
        |name: &str| constraints.iter().find(|it| it.name == name).unwrap().nullable.join(",");
    assert_eq!((nullable("strict"), nullable("lax")), (String::new(), "a,b".to_owned()));
    observer.close().await;
    database.end().await;
}
