//! The profiles that come with the program, and what is made of profiles.

use std::path::{Path, PathBuf};
use std::time::Duration;

use dupeproof::history::Role;
use dupeproof::profile::{
    Burst, BusinessColumn, Contract, Filling, Hint, KeyCarrier, MissingKey, OtherParameters,
    Profile, Release, ReplayBody, Target, load, parse, reproduction,
};

use crate::{ATTACHED, EVERYTHING, LAUNCHED, PHASE, env, read};

/// Every file in `profiles/`, and in its folder for defects.
pub fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("profiles");
    let mut files: Vec<_> = [folder.join("defects"), folder]
        .into_iter()
        .flat_map(|folder| std::fs::read_dir(folder).expect("the folder is there"))
        .map(|entry| entry.expect("its entries can be read").path())
        .filter(|path| path.is_file())
        .collect();
    files.sort();
    files
}

#[test]
fn every_profile_that_comes_with_the_program_is_right() {
    assert!(files().len() >= 8);
    for file in files() {
        let profile =
            load(&file, &|_| None).unwrap_or_else(|error| panic!("{}", error.render(false)));
        assert!(profile.title.is_some(), "{} has no title", file.display());
        assert!(profile.head.len() > 3, "{} doesn't say what it shows", file.display());
        let text = std::fs::read_to_string(&file).unwrap();
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let name = file.strip_prefix(root).unwrap().display().to_string();
        let up = "../".repeat(name.matches('/').count());
        assert!(text.starts_with(&format!("#:schema {up}schemas/profile.schema.json\n")), "{name}");
        assert!(
            text.contains(&format!("#     dupeproof run {name}\n")),
            "{name} tells another command"
        );
    }
}

#[test]
fn checks_of_ones_own_leave_the_tables_of_the_lab() {
    let check = "[[audit.sql]]\ntitle = \"none\"\nquery = \"SELECT 1 WHERE false\"\n";
    let (plain, checked) = (read(PHASE).unwrap(), read(&format!("{PHASE}{check}")).unwrap());
    assert_eq!(checked.audit.sql.len(), 1);
    assert_eq!(checked.audit.stock, plain.audit.stock);
    assert_eq!(checked.audit.movements, plain.audit.movements);
    let own = read(&format!(
        "{PHASE}[audit]\norders = {{ table = \"o\", id = \"id\", key = \"k\", user = \"u\" }}\n"
    ));
    assert_eq!(
        (own.as_ref().unwrap().audit.stock.clone(), own.unwrap().audit.movements),
        (None, None)
    );
}

#[test]
fn one_burst_is_a_profile() {
    let profile = read(PHASE).unwrap();
    assert_eq!((profile.seed, profile.lab.instances, profile.products.count), (1, 2, 12));
    assert_eq!(profile.contract, Contract::order_strict());
    assert_eq!(profile.client.longest_reply, 1 << 20);
    assert_eq!(profile.audit.orders.key.as_deref(), Some("idempotency_key"));
    assert_eq!(profile.audit.stock.unwrap().fence.as_deref(), Some("last_fence"));
    let Burst::SameKey(burst) = &profile.phases[0].burst else { panic!("a same-key burst") };
    assert_eq!((burst.release, burst.quantity, burst.request), (Release::Frozen, 1, 0));
    let request = &profile.requests[0];
    let filling = Filling {
        user: "u-1",
        key: "k-1",
        product: 42,
        quantity: 3,
        uuid: "0-0",
        order: "o-1",
        token: "t-1",
    };
    assert_eq!((request.method, request.path.render(&filling).as_str()), ("POST", "/orders"));
    assert_eq!(
        request.body.as_ref().unwrap().render_text(&filling),
        r#"{"userId":"u-1","productId":42,"quantity":3,"traceId":"0-0"}"#
    );
}

#[test]
fn every_key_reaches_its_place() {
    let profile = read(EVERYTHING).unwrap_or_else(|mistakes| panic!("{}", mistakes.render(false)));
    assert_eq!(profile.title.as_deref(), Some("All \"keys\" ${NOT_A_VARIABLE}"));
    assert_eq!(profile.head, ["Uses every key.", "", "  Indented, with a `\"` in it."]);
    assert_eq!(profile.lab.lock_poll, Duration::from_micros(1500));
    let contract = &profile.contract;
    assert_eq!(contract.one_order_per, [BusinessColumn::User, BusinessColumn::Product]);
    assert_eq!((contract.hint, contract.replay.body), (Hint::RetryAfter, ReplayBody::OrderId));
    assert_eq!(contract.replay_marker.as_deref(), Some("idempotent-replayed"));
    assert_eq!(contract.in_progress.code.as_ref().unwrap().pointer, "/error/code");
    assert_eq!(
        contract.rejects_missing_key().and_then(|answer| answer.code.clone()),
        None,
        "a clause replaces the preset's as a whole"
    );
    let names: Vec<_> = profile.requests.iter().map(|request| request.name.as_str()).collect();
    assert_eq!(names[..2], ["pay", "drop"], "in the order of the file");
    let Burst::SameKey(burst) = &profile.phases[0].burst else { panic!("a same-key burst") };
    assert_eq!((burst.request, burst.release), (1, Release::Loop));
    assert_eq!(profile.audit.orders.sold, ["CREATED", "${"]);
    assert_eq!(profile.audit.stock, None, "an `[audit]` without `stock` doesn't judge it");
}

#[test]
fn what_is_written_back_has_names_in_place_of_secrets() {
    let profile = read(EVERYTHING).unwrap();
    let written = profile.to_toml();
    assert!(!written.contains("s3cret"), "{written}");
    assert!(!format!("{profile:?}").contains("s3cret"));
    insta::assert_snapshot!(written);
    assert_eq!(read(&written).unwrap_or_else(|m| panic!("{}", m.render(false))), profile);
}

#[test]
fn a_reproduction_keeps_the_phase_and_what_it_needs() {
    let profile = read(EVERYTHING).unwrap();
    let text = reproduction(&profile, 1, 1, "Shows I02 again, found with seed 42.\nOne intent.");
    let small = read(&text).unwrap_or_else(|mistakes| panic!("{}", mistakes.render(false)));
    assert_eq!(small.head[..3], ["Shows I02 again, found with seed 42.", "One intent.", ""]);
    assert_eq!(small.head[3..], profile.head[..]);
    assert_eq!((&small.lab, &small.contract), (&profile.lab, &profile.contract));
    assert_eq!((small.phases.len(), small.phases[0].name.as_str()), (1, "second"));
    let Burst::SameKey(burst) = &small.phases[0].burst else { panic!("a same-key burst") };
    assert_eq!((burst.users, burst.threads), (1, 500));
    let names: Vec<_> = small.requests.iter().map(|request| request.name.as_str()).collect();
    assert_eq!(names, ["pay", "login"], "what the phase and the login send");
    assert_eq!((small.published, small.budget), (None, Default::default()));
}

#[test]
fn the_head_is_what_stands_before_anything_else() {
    let head = |text: &str| read(&format!("{text}{PHASE}")).unwrap().head;
    assert_eq!(head(""), Vec::<String>::new());
    assert_eq!(head("#:schema x\n\n# a\n#b\r\n\n# c\n"), ["a", "b"]);
    assert_eq!(head("seed = 1\n# a\n"), Vec::<String>::new());
    assert_eq!(env("UNKNOWN"), None);
}

/// The attempts that a phase plans, without retries.
fn planned(profile: &Profile) -> u64 {
    let of = |burst: &Burst| {
        let crowd =
            burst.crowd().map_or(0, |crowd| u64::from(crowd.users) * u64::from(crowd.threads));
        match burst {
            Burst::Mutated(burst) => {
                crowd + u64::from(burst.crowd.users) * u64::from(burst.again) * 2
            }
            Burst::Sequential(burst) => u64::from(burst.users) * u64::from(1 + burst.repeats),
            _ => crowd,
        }
    };
    profile.phases.iter().map(|phase| of(&phase.burst)).sum()
}

#[test]
fn the_main_drill_plans_24_000_attempts() {
    let profile = load(&files_named("checkout.toml"), &|_| None).unwrap();
    assert_eq!(planned(&profile), 24_000);
}

fn files_named(name: &str) -> PathBuf {
    files().into_iter().find(|file| file.ends_with(name)).expect("it comes with the program")
}

#[test]
fn an_attached_target_is_read_and_written_back_by_name() {
    let profile = read(ATTACHED).unwrap_or_else(|mistakes| panic!("{}", mistakes.render(false)));
    let Target::Attached(attached) = &profile.target else { panic!("an attached target") };
    assert_eq!(attached.urls[1].reveal(), "https://staging.example.com:8443");
    assert_eq!(profile.phases[0].burst.crowd().unwrap().release, Release::Loop);
    let written = profile.to_toml();
    assert!(!written.contains("s3cret") && !format!("{profile:?}").contains("s3cret"));
    assert!(written.contains("https://${HOST}:8443") && !written.contains("[lab]"), "{written}");
    let proxies = [profile.postgres.as_ref().unwrap().proxy, profile.redis.proxy];
    let address = |text: &str| Some(text.parse().unwrap());
    assert_eq!(proxies, [address("127.0.0.1:16432"), address("[::1]:16379")]);
    assert_eq!(profile.redis.idempotency_keys.as_deref(), Some("idem:{user}:{key}"));
    assert_eq!(profile.payments.as_ref().unwrap().proxy.port(), 9090);
    assert_eq!(profile.wires.roles, [("redis SET lease:stock".to_owned(), Role::Lock)]);
    assert!(profile.secrets().iter().any(|(_, shown)| shown.starts_with("redis://:${TOKEN}@")));
    assert_eq!(read(&written).unwrap_or_else(|m| panic!("{}", m.render(false))), profile);
}

#[test]
fn a_launched_target_is_read_and_written_back_by_name() {
    let profile = read(LAUNCHED).unwrap_or_else(|mistakes| panic!("{}", mistakes.render(false)));
    let Target::Launched(launched) = &profile.target else { panic!("a launched target") };
    assert_eq!((launched.instances, launched.ready.as_deref()), (3, None));
    assert_eq!(launched.command[3], "${X}");
    assert!(!launched.proxies && profile.redis.lock_keys.is_some());
    assert_eq!(launched.env[2].1.reveal(), "{\"a\": {}} ${X}");
    assert_eq!(profile.phases[0].burst.crowd().unwrap().release, Release::Frozen);
    let written = profile.to_toml();
    assert!(!written.contains("s3cret") && !format!("{profile:?}").contains("s3cret"));
    assert_eq!(read(&written).unwrap_or_else(|m| panic!("{}", m.render(false))), profile);
}

#[test]
fn a_preset_is_overridden_clause_by_clause() {
    let text = format!(
        "contract = {{ preset = 'stripe-v1', key.longest = 64, missing-key = 'unsaid', \
         replay-marker = 'none', replay.body = 'json', other-parameters = 'old-result' }}\n{PHASE}"
    );
    let contract = read(&text).unwrap_or_else(|m| panic!("{}", m.render(false))).contract;
    assert_eq!(contract.preset, "stripe-v1");
    assert_eq!(contract.key.carrier, KeyCarrier::Header("idempotency-key".to_owned()));
    assert_eq!((contract.key.longest, contract.missing_key), (Some(64), MissingKey::Unsaid));
    assert_eq!((contract.replay_marker, contract.replay.body), (None, ReplayBody::Json));
    assert_eq!(contract.other_parameters, OtherParameters::OldResult);
    assert_eq!((contract.first, contract.hint), (vec![200], Hint::None));
}

#[test]
fn every_kind_of_burst_makes_a_reproduction_that_is_right() {
    let profile = read(EVERYTHING).unwrap();
    for (index, phase) in profile.phases.iter().enumerate() {
        let text = reproduction(&profile, index, 1, "Small.");
        let small = parse(Path::new("small.toml"), &text, &env)
            .unwrap_or_else(|m| panic!("{}\n{}", phase.name, m.render(false)));
        assert_eq!(small.phases[0].burst.word(), phase.burst.word());
        assert!(small.requests.len() < profile.requests.len());
    }
}

#[test]
fn where_the_contract_is_silent_there_is_one_order_for_what_the_lab_s_shop_says() {
    let per = |text: &str| read(text).unwrap().contract.one_order_per;
    let user = "[lab]\none-order-per = 'user'\n";
    assert_eq!(per(&format!("{user}{PHASE}")), [BusinessColumn::User]);
    assert_eq!(per(PHASE), []);
    let said = format!("contract.one-order-per = ['product']\n{user}{PHASE}");
    assert_eq!(per(&said), [BusinessColumn::Product]);
}
