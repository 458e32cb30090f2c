//! What came from the environment is used and never shown: not in the results, not in a message.

use std::fmt::Write;

use dupeproof::profile::{Secret, Target};
use dupeproof::report;

use crate::attached::server;
use crate::rig::{Rig, TABLES, TOKEN, full, profile, profile_with, python};

#[tokio::test]
async fn a_target_that_tells_everything_it_was_given_does_not_get_it_into_the_results() {
    let rig = Rig::new();
    let password = "planted-passw0rd";
    // It logs its environment and every header, answers with them, and dies with them on its lips.
    let does = "said = self.headers.get('Authorization') + ' ' + os.environ['UPSTREAM']\n\
                print(said, file=sys.stderr, flush=True)\n\
                if posts > 25: os._exit(1)\n\
                if posts % 2: self.answer(500, said.encode())\n\
                else:\n    self.wfile.write((said + '\\r\\n\\r\\n').encode())\n    self.close_connection = True";
    let mut launched = python(&server(does));
    launched.env = vec![(
        "UPSTREAM".to_owned(),
        Secret::new(
            format!("postgres://me:{password}@127.0.0.1/shop"),
            "postgres://me:${PASSWORD}@127.0.0.1/shop".to_owned(),
        ),
    )];
    let mut profile = profile(Target::Launched(launched));
    profile.setup.sql = vec![TABLES.to_owned()];
    let outcome = rig.drill(profile).await.unwrap();
    let mut shown = report::text(&outcome.result);
    write!(shown, "{}", serde_json::json!(outcome.result)).unwrap();
    shown.push_str(&rig.seen());
    for planted in [TOKEN, password] {
        assert!(!shown.contains(planted), "shown: {shown}");
        for (path, text) in rig.files() {
            assert!(!text.contains(planted), "{}: {text}", path.display());
        }
    }
    let log = rig.text("logs/target-0.log");
    assert!(log.contains("Bearer ${TOKEN} postgres://me:${PASSWORD}@127.0.0.1/shop"), "{log}");
    let journal = rig.text("journal.jsonl");
    assert!(journal.contains("Bearer ${TOKEN}"), "bodies and failures are kept, redacted");
}

#[tokio::test]
async fn what_a_login_gave_is_used_and_never_shown() {
    let rig = Rig::new();
    let given = "planted-l0gin-t0ken";
    // It gives a token, logs what it is sent, and answers an order with it.
    // The command is shown, so the token doesn't stand in it as it is.
    let does = "said = self.headers.get('Authorization', '')\n\
                print(self.path, said, file=sys.stderr, flush=True)\n\
                token = 'planted-' + 'l0gin-' + 't0ken'\n\
                if self.path == '/login': self.answer(200, ('{\"token\":\"' + token + '\"}').encode())\n\
                else: self.answer(500, said.encode())";
    let mut launched = python(&server(does));
    launched.env = Vec::new();
    let login = "[request.login]\npost = \"/login\"\nbody = { user = \"{user}\" }\n\
                 [actor]\nlogin = { request = \"login\", token-at = \"/token\" }\n";
    let mut profile = profile_with(Target::Launched(launched), login);
    let token = dupeproof::profile::TextTemplate::parse("Bearer {token}").unwrap();
    profile.requests[0].headers.retain(|(name, _)| name != "Authorization");
    profile.requests[0].headers.push(("Authorization".to_owned(), token));
    profile.setup.sql = vec![TABLES.to_owned()];
    let outcome = rig.drill(profile).await.unwrap();
    let shown = report::text(&outcome.result) + &rig.seen();
    assert!(!shown.contains(given), "{shown}");
    for (path, text) in rig.files() {
        assert!(!text.contains(given), "{}: {text}", path.display());
    }
    let log = rig.text("logs/target-0.log");
    assert!(log.contains("/orders Bearer (login)"), "{log}");
    assert_eq!(log.matches("/login").count(), 4, "each user logs in once: {log}");
}

#[tokio::test]
async fn a_database_that_refuses_does_not_tell_the_password() {
    let rig = Rig::new();
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut profile = profile(Target::Launched(python(&server("pass"))));
    let url = Secret::new(format!("postgres://me:planted-pw@{free}/shop"), "${DB}".to_owned());
    profile.postgres = Some(dupeproof::profile::Postgres { url, proxy: None });
    let secrets = dupeproof::drill::secrets(&profile);
    let error = rig.drill(profile).await.unwrap_err();
    let text = full(&error);
    assert!(text.contains(&format!("cannot connect to PostgreSQL at {free}/shop")), "{text}");
    assert!(!text.contains("planted-pw"), "{text}");
    assert_eq!(secrets.redact("FATAL: planted-pw"), "FATAL: (password)");
    assert!(rig.files().iter().all(|(_, text)| !text.contains("planted-pw")));
}
