//! Whatever is typed, there is a profile or there is a mistake with a place.

use dupeproof::profile::{LONGEST_PROFILE, Profile, parse, reproduction};
use proptest::prelude::*;

use crate::faults::FAULTS;
use crate::schema::complaints;
use crate::{EVERYTHING, PHASE, env, read};

/// Either a profile, or mistakes that can be shown.
fn holds(text: &str) -> Result<(), TestCaseError> {
    match read(text) {
        Ok(profile) => reads_back(&profile),
        Err(mistakes) => {
            prop_assert!(!mistakes.list.is_empty());
            for mistake in &mistakes.list {
                prop_assert!(text.get(mistake.span.clone()).is_some(), "{mistake:?}");
                prop_assert!(!mistake.what.is_empty() && !mistake.label.is_empty(), "{mistake:?}");
                prop_assert!(!mistake.help.is_empty(), "{mistake:?}");
            }
            let told = mistakes.render(false);
            prop_assert!(!told.contains("s3cret"), "{told}");
            prop_assert!(told.lines().last() == Some(&*mistakes.to_string()));
            Ok(())
        }
    }
}

fn reads_back(profile: &Profile) -> Result<(), TestCaseError> {
    let written = profile.to_toml();
    prop_assert!(!written.contains("s3cret"), "{written}");
    match read(&written) {
        Ok(again) => prop_assert_eq!(&again, profile),
        Err(mistakes) => prop_assert!(false, "{}\n{written}", mistakes.render(false)),
    }
    Ok(())
}

/// A change of a text: at a place, so many characters give way to something else.
fn change() -> impl Strategy<Value = (prop::sample::Index, usize, String)> {
    let inserted = prop_oneof![
        3 => "[ -~]{0,3}",
        2 => "[\\[\\]{}=\"'$,.#\\\\\n]{1,3}",
        1 => "\\PC{0,4}",
        1 => prop::sample::select(vec![
            "${TOKEN}", "${TWO_LINES}", "$${", "{usr}", "\"\"\"", "'''", "\r\n", "\u{feff}", "\t",
            "[[phase]]\n", "1e999", "-1", "1979-05-27", "true", "{ }", "[ ]", "\\u0000", "999999999999999999999",
        ]).prop_map(str::to_owned),
    ];
    (any::<prop::sample::Index>(), 0_usize..12, inserted)
}

/// A text that may stand in a profile.
fn text() -> impl Strategy<Value = String> {
    "\\PC{0,12}[!-~]\\PC{0,12}"
}

/// TOML of a text.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string().replace('\u{7f}', "\\u007F")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_good_profile_with_random_changes_is_read_or_refused(
        good in prop::sample::select(vec![EVERYTHING, FAULTS]),
        changes in prop::collection::vec(change(), 1..4)
    ) {
        let mut text: Vec<char> = good.chars().collect();
        for (at, removed, inserted) in changes {
            let at = at.index(text.len() + 1);
            let end = (at + removed).min(text.len());
            text.splice(at..end, inserted.chars());
        }
        holds(&text.into_iter().collect::<String>())?;
    }

    #[test]
    fn any_value_for_any_key_is_read_or_refused(
        good in prop::sample::select(vec![EVERYTHING, FAULTS]),
        line in prop::sample::Index::arbitrary().boxed(),
        value in prop::sample::select(vec![
            "1", "-1", "0.5", "nan", "''", "'x'", "'1s'", "'/x'", "[]", "['a']", "[1, 1]", "{}",
            "{ a = 1 }", "true", "1979-05-27", "18446744073709551616", "'${TOKEN}'", "'{key}'",
        ])
    ) {
        let mut lines: Vec<String> = good.lines().map(str::to_owned).collect();
        let at = line.index(lines.len());
        if let Some((key, _)) = lines[at].split_once(" = ") {
            lines[at] = format!("{key} = {value}");
        }
        holds(&lines.join("\n"))?;
    }

    #[test]
    fn the_schema_and_the_check_want_the_same_of_texts(
        key in prop::sample::select(vec![
            "title", "lab.defects", "published.figure", "audit.stock.table",
            "audit.stock.product", "contract.replay-marker", "request.place.order-id",
            "request.place.post", "request.place.headers.A",
        ]),
        text in "([ -#%-z|~]{0,6}|[a-z/][a-z0-9_~./-]{0,6}|[a-zäD0-9 \n-]{1,4})",
    ) {
        let value = quoted(&text);
        let value = if key == "lab.defects" { format!("[{value}]") } else { value };
        let others = match key {
            "audit.stock.table" => "audit.stock.product = 'p'\naudit.stock.available = 'a'",
            "audit.stock.product" => "audit.stock.table = 't'\naudit.stock.available = 'a'",
            "request.place.post" => "request.place.headers.K = '{key}'",
            "request.place.order-id" | "request.place.headers.A" => "request.place.post = '/{key}'",
            _ => "",
        };
        let profile = format!("{key} = {value}\n{others}\n{PHASE}");
        let said = complaints(&profile);
        match read(&profile) {
            Ok(_) => prop_assert!(said.is_empty(), "{profile}\n{said:?}"),
            Err(mistakes) => prop_assert!(!said.is_empty(), "{}", mistakes.render(false)),
        }
    }

    #[test]
    fn anything_at_all_is_read_or_refused(text in "\\PC{0,80}") {
        holds(&text)?;
    }

    #[test]
    fn what_is_written_reads_as_the_same_profile(
        (title, name, header, field) in (text(), text(), "[ -z|~]{0,20}", text()),
        (seed, users, millis, share) in (any::<u64>(), 1_u32..5_000, 1_u64..10_000_000, 0.0..=1.0_f64),
    ) {
        let escaped = |text: &str| text.replace('{', "{{").replace('}', "}}");
        let profile = format!(
            "title = {}\nseed = {seed}\nclient.timeout = \"{millis}ms\"\n\
             [request.place]\npost = \"/orders\"\n\
             headers = {{ Idempotency-Key = \"{{key}}\", A = {}, B = \"${{TOKEN}}\" }}\n\
             body = {{ {} = {}, \"a name that is longer than all the others\" = [{share:?}, {seed_half}] }}\n\
             [[phase]]\nname = {}\n\
             burst.same-key = {{ users = {users}, threads = 2, overlap-share = {share:?} }}\n",
            quoted(&title.replace("${", "$${")),
            quoted(&escaped(&header)),
            quoted(&field),
            quoted(&escaped(&field)),
            quoted(&name.replace("${", "$${")),
            seed_half = seed / 2,
        );
        match read(&profile) {
            Ok(profile) => reads_back(&profile)?,
            Err(mistakes) => prop_assert!(false, "{}", mistakes.render(false)),
        }
    }
}

/// A burst of any kind, for the requests of [`EVERYTHING`].
fn burst() -> impl Strategy<Value = String> {
    let arrival = prop::sample::select(vec![
        "",
        ", release = 'loop'",
        ", release = 'frozen'",
        ", stagger = '1500us'",
        ", arrival = 'spread'",
        ", arrival = 'around-completion', overlap-share = 0.25",
        ", arrival = 'staggered', stagger = '1s'",
        ", arrival = 'at-once', quantity = 2",
    ]);
    let share = || 0.0..=0.3_f64;
    let kind = (0_usize..12, 2_u32..40, 2_u32..40, share(), share(), share());
    (kind, arrival).prop_map(|((kind, users, threads, a, b, c), arrival)| {
        let crowd = format!("users = {users}, threads = {threads}{arrival}");
        match kind {
            0 => format!("burst.same-key = {{ {crowd} }}"),
            1 => format!("burst.same-fingerprint = {{ {crowd}, request = 'drop' }}"),
            2 => format!("burst.mutated = {{ {crowd}, request = 'drop', mutated-share = {a:?}, again = 3 }}"),
            3 => format!("burst.fresh-key = {{ {crowd} }}"),
            4 => format!("burst.shared-key = {{ {crowd}, sharing = {threads} }}"),
            5 => format!("burst.last-unit = {{ {crowd}, stock = {} }}", users - 1),
            6 => format!("burst.race = {{ {crowd}, first = 'pay', requests = ['shut', 'close'] }}"),
            7 => format!("burst.submit-token = {{ {crowd}, request = 'drop', token = 'token' }}"),
            8 => format!(
                "burst.mixed = {{ {crowd}, request = 'drop', variant-share = 0.1, mutated-share = {b:?}, fresh-share = {c:?} }}"
            ),
            9 => format!("burst.sequential = {{ users = {users}, repeats = {threads}, vary = ['headers'], route = 'drop' }}"),
            10 => format!("burst.bad-keys = {{ users = {users}, quantity = {threads} }}"),
            _ => format!("rate = {{ per-second = {users}, for = '{threads}s', duplicate-share = {a:?} }}"),
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn phases_of_every_kind_read_back_and_can_be_made_small(
        bursts in prop::collection::vec(burst(), 1..4),
        preset in prop::sample::select(vec!["order-strict", "ietf-07", "stripe-v1", "adyen", "brandur", "zalando"]),
        users in 1_u32..5,
    ) {
        let everything = EVERYTHING.split("[[phase]]").next().unwrap();
        let cut = |text: &str, from: &str, to: &str| {
            let start = text.find(from).unwrap();
            format!("{}{}", &text[..start], &text[start + text[start..].find(to).unwrap()..])
        };
        let mut text = cut(everything, "preset = ", "[client]");
        text = text.replace("[client]", &format!("preset = '{preset}'\n[client]")).replace("stock = 400", "stock = 100000");
        // The list of users is shorter than what the bursts would need of them, one for each order.
        text = text.replace("one-order-per = \"user\"", "one-order-per = \"key\"");
        for (number, burst) in bursts.iter().enumerate() {
            text.push_str(&format!("[[phase]]\nname = '{number}'\n{burst}\n"));
        }
        let profile = match read(&text) {
            Ok(profile) => profile,
            Err(mistakes) => return Err(TestCaseError::fail(format!("{text}\n{}", mistakes.render(false)))),
        };
        reads_back(&profile)?;
        prop_assert!(complaints(&profile.to_toml()).is_empty());
        for phase in 0..profile.phases.len() {
            let small = reproduction(&profile, phase, users, "Small.");
            match read(&small) {
                Ok(small) => prop_assert_eq!(small.phases.len(), 1),
                Err(mistakes) => prop_assert!(false, "{}\n{}", small, mistakes.render(false)),
            }
        }
    }

    /// Whatever the environment holds, and wherever it is used, nobody is shown it.
    #[test]
    fn what_the_environment_holds_is_shown_nowhere(
        value in "[!-~ ]{0,12}zq7secret[!-~ ]{0,12}",
        place in prop::sample::select(vec![
            "target.urls = ['http://127.0.0.1', '@']", "target.urls = ['http://u:@@127.0.0.1']",
            "target.urls = ['http://@/a']", "target = { urls = ['https://@:1'], ready = '@' }",
            "postgres.url = '@'", "postgres.url = 'postgres://u:@@127.0.0.1/a'",
            "postgres.url = 'postgres://@/a'", "actor.users = ['@', 'a']",
            "target.launch = { command = ['a'], env = { A = 'x@', B = '{prot}@' } }",
            "target.launch = { command = ['@'] }", "title = '@'", "allow-hosts = ['@']",
            "request.place = { post = '/{key}/@', headers = { Authorization = 'Bearer @' }, body = { a = '@' } }",
            "request.place = { post = '/', headers = { Idempotency-Key = '@' }, mutate = { '/a' = ['@'] } }",
            "setup.sql = ['@']", "audit.sql = [{ title = '@', query = '@' }]", "contract.key.header = '@'",
        ]),
    ) {
        let text = format!("{}\n{PHASE}", place.replace('@', "${SECRET}"));
        let env = |name: &str| (name == "SECRET").then(|| value.clone());
        let shown = match parse(std::path::Path::new("x.toml"), &text, &env) {
            Ok(profile) => format!("{}{profile:?}{}", profile.to_toml(), reproduction(&profile, 0, 1, "Small.")),
            Err(mistakes) => format!("{}{mistakes:?}", mistakes.render(false)),
        };
        prop_assert!(!shown.contains("zq7secret"), "{shown}");
    }
}

#[test]
fn the_schema_takes_nothing_from_the_environment() {
    let schema = dupeproof::profile::schema().to_string();
    for (name, value) in std::env::vars().filter(|(_, value)| value.len() > 12) {
        assert!(!schema.contains(&value), "{name}");
    }
}

#[test]
fn the_tests_have_something_to_keep_secret() {
    assert!(env("TOKEN").unwrap().contains("s3cret") && EVERYTHING.contains("${TOKEN}"));
}

/// What this thread has spent of the processor, in seconds: a busy machine makes nobody slow.
fn own_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/thread-self/stat").expect("Linux has it");
    let (_, fields) = stat.rsplit_once(") ").expect("a name in brackets");
    let ticks = fields.split(' ').skip(11).take(2).map(str::parse::<f64>);
    ticks.map(|ticks| ticks.expect("a number of ticks")).sum::<f64>() / 100.0
}

/// Large files that are wrong, or odd, in one way all over: none takes a time that grows with its square.
#[test]
fn a_large_file_is_told_about_within_seconds() {
    let limit = usize::try_from(LONGEST_PROFILE).unwrap() / 4;
    let fill = |head: &str, piece: &str, tail: &str| {
        format!("{head}{}{tail}", piece.repeat((limit - 200) / piece.len()))
    };
    let numbered = |head: &str, piece: &str, tail: &str| {
        let mut text = head.to_owned();
        for number in 0.. {
            if text.len() > limit - 200 {
                break;
            }
            text.push_str(&piece.replace('#', &number.to_string()));
        }
        text + tail
    };
    let request = "[request.place]\npost = '/{key}'\n";
    for text in [
        fill("contract.first = [", "200,", "]"),
        fill("lab.defects = [", "'D01',", "]"),
        fill("title = '", "{x}", "'"),
        fill(&format!("{request}body.a = '"), "{x}", "'"),
        fill(&format!("{request}body.a = \"\"\""), "\\u007B", "\"\"\""),
        fill("", "[[phase]]\n", ""),
        fill("", "[[phase]]\nname = 'a'\nburst.same-key = {users=1,threads=1}\n", ""),
        fill("", "= ", ""),
        fill("", "a\n", ""),
        fill("a = ", "[", ""),
        fill("a = ", "{a=", ""),
        fill("a", ".a", " = 1"),
        fill("a = ", "'", ""),
        fill("a = ", "\"\"\"", ""),
        numbered("", "k# = 1\n", ""),
        numbered(&format!("{request}headers = {{"), "h# = '{key}',", "}"),
        numbered(&format!("{request}body = {{"), "h# = '{key}',", "}"),
        numbered("", "[request.r#]\npost='/{key}'\n", ""),
        numbered("", "[[phase]]\nname='#'\nburst.same-key={users=1,threads=1,request='r#'}\n", ""),
    ] {
        let begun = own_seconds();
        holds(&text).unwrap_or_else(|error| panic!("{error}"));
        let took = own_seconds() - begun;
        assert!(took < 10.0, "{took} s for {}...", &text[..40]);
    }
}
