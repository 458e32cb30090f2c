//! A live database, surveyed and judged.

use dupeproof::audit::{GateState, Judgement, Verdict, judge_rows};
use dupeproof::history::Survey;
use dupeproof::observe::Subject;
use dupeproof::profile::{Contract, Profile};

use crate::Database;
use crate::tables::{SCHEMA, own, tables};

const HEALTHY: &str = r#"
INSERT INTO "order" SELECT n, 'u' || n, 'k' || n, n % 10, 1, 'CREATED', now() - interval '1 day'
FROM generate_series(1, 1000) AS n;
INSERT INTO stock SELECT n, 400 FROM generate_series(0, 9) AS n;
INSERT INTO moves ("order", product, delta) SELECT NULL, n, 500 FROM generate_series(0, 9) AS n;
INSERT INTO moves ("order", product, delta) SELECT id, product, -quantity FROM "order";
ALTER TABLE "order" ALTER COLUMN key SET NOT NULL;
ALTER TABLE stock DROP CONSTRAINT stock_available_check;
ALTER TABLE stock ADD CHECK (available >= -9);
"#;

async fn judged(database: &Database, profile: &Profile) -> (Survey, Judgement) {
    let observer = database.observer(&profile.audit, Subject::default()).await.unwrap();
    let survey = observer.survey(&profile.contract).await.unwrap();
    observer.close().await;
    let judgement = judge_rows(profile, &survey);
    (survey, judgement)
}

fn profile() -> Profile {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("profiles/checkout.toml");
    let mut profile = dupeproof::profile::load(&path, &|_| None).unwrap();
    profile.audit = tables();
    profile.contract = Contract::order_strict();
    profile
}

fn ids(judgement: &Judgement) -> Vec<&str> {
    judgement.findings.iter().map(|finding| finding.code.id).collect()
}

#[tokio::test]
async fn a_healthy_database_passes_and_each_planted_row_is_found() {
    let database = Database::with(&format!("{SCHEMA}{HEALTHY}")).await;
    let mut profile = profile();
    let (survey, judgement) = judged(&database, &profile).await;
    assert_eq!((survey.orders, survey.valid), (1_000, 1_000));
    assert_eq!((judgement.verdict, ids(&judgement)), (Verdict::Passed, vec![]), "{judgement:#?}");
    assert!(judgement.gates.iter().all(|gate| gate.state == GateState::Held), "{judgement:#?}");

    profile.audit.sql =
        vec![own("no order of u5", "SELECT id FROM \"order\" WHERE \"user\" = 'u5'")];
    for (plant, undo, expected) in [
        ("UPDATE stock SET available = -3 WHERE product = 4", "", vec!["I01", "I03b"]),
        (
            "DROP INDEX one_per_key; INSERT INTO \"order\" VALUES (2001, 'u7', 'k7', 7, 0)",
            "DELETE FROM \"order\" WHERE id = 2001;
             CREATE UNIQUE INDEX one_per_key ON \"order\" (\"user\", key)",
            vec!["I02", "L10"],
        ),
        (
            "UPDATE \"order\" SET quantity = 3 WHERE id = 9",
            "UPDATE \"order\" SET quantity = 1",
            vec!["I04"],
        ),
        (
            "UPDATE \"order\" SET paid = now(), closed = true WHERE id = 9",
            "UPDATE \"order\" SET paid = NULL",
            vec!["I10"],
        ),
        (
            "INSERT INTO moves (\"order\", product, delta) VALUES (9999, 2, -1), (NULL, 2, 1)",
            "DELETE FROM moves WHERE \"order\" = 9999",
            vec!["I04"],
        ),
    ] {
        database.run(plant).await;
        let (_, judgement) = judged(&database, &profile).await;
        let mut expected = expected;
        expected.insert(expected.len() - usize::from(expected.contains(&"L10")), "U01");
        assert_eq!(ids(&judgement), expected, "{plant}: {judgement:#?}");
        assert_eq!(judgement.verdict, Verdict::Violated);
        database.run(undo).await;
        database.run("UPDATE stock SET available = 400 WHERE product = 4").await;
    }
    database.end().await;
}

#[tokio::test]
async fn what_has_no_column_is_not_judged_and_a_saga_has_its_time() {
    let database = Database::with(&format!("{SCHEMA}{HEALTHY}")).await;
    database
        .run("INSERT INTO \"order\" VALUES (2001, 'u2001', 'k2001', 7, 1); DELETE FROM moves WHERE \"order\" IS NULL")
        .await;
    let mut profile = profile();
    let (_, judgement) = judged(&database, &profile).await;
    assert_eq!(ids(&judgement), ["I04"], "{judgement:#?}");
    let state = |judgement: &Judgement, id: &str| {
        judgement.gates.iter().find(|gate| gate.code.id == id).unwrap().state
    };
    assert_eq!(state(&judgement, "I03b"), GateState::NotJudged, "a ledger without its beginning");

    profile.contract.settles_within = Some(std::time::Duration::from_secs(3_600));
    let (_, judgement) = judged(&database, &profile).await;
    assert_eq!(ids(&judgement), Vec::<&str>::new(), "{judgement:#?}");

    profile.audit.orders.key = None;
    (profile.audit.stock, profile.audit.movements) = (None, None);
    profile.audit.orders.paid_at = None;
    let (_, judgement) = judged(&database, &profile).await;
    for id in ["I01", "I02", "I03b", "I04", "I10"] {
        assert_eq!(state(&judgement, id), GateState::NotJudged, "{id}");
    }
    database.end().await;
}
