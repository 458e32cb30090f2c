//! What a user reads about each mistake. The snapshots are the messages.

use crate::{PHASE, read};

/// The rendered mistakes of a profile.
fn told(text: &str) -> String {
    let told = read(text).expect_err("this profile has a mistake").render(false);
    assert!(!told.contains("s3cret"), "{told}");
    told
}

/// The rendered mistakes of a profile whose phase is right.
fn told_before_phase(text: &str) -> String {
    told(&format!("{text}\n{PHASE}"))
}

macro_rules! each {
    ($($name:ident: $text:expr;)*) => {$(
        #[test]
        fn $name() {
            insta::assert_snapshot!(told_before_phase($text));
        }
    )*};
}

#[test]
fn ten_mistakes_are_told_at_once() {
    let told = told(
        r#"#:schema ../schemas/profile.schema.json
# Ten mistakes.
sed = 42
timeout = "2s"

[lab]
instances = "two"
lock-per = "prodct"
lease = "3 seconds"

[request.place]
post = "/orders/{usr}"
headers = { Idempotency-Key = "{key}", Authorization = "Bearer ${TOKN}" }

[[phase]]
name = "double click"
burst.same-key = { users = 5000, threads = 20 }

[[phase]]
name = "double click"
burst.same-key = { users = 10, threads = 2, request = "plce" }
"#,
    );
    assert!(told.ends_with("\n\n10 mistakes in profiles/x.toml\n"));
    insta::assert_snapshot!(told);
}

each! {
    syntax_text_without_quotes: "title = hello";
    syntax_missing_value: "seed =";
    syntax_key_given_twice: "seed = 1\nseed = 2";
    syntax_unclosed_list: "lab.defects = [\"a\",";
    syntax_unclosed_text: "title = \"abc";
    syntax_unclosed_table: "title = '[{' # [\nlab = { defects = [\"a]\", '''b\n]'''], lease = '1s'\n";
    syntax_unclosed_list_in_a_table: "lab = {\n  defects = [\"rmw-stock\",\n  lease = '1s',\n}";
    syntax_several: "title = 'a\nseed = \nseed = 3\nlab = 1979-99-99";
    syntax_unclosed_header: "[lab\ninstances = 2";
    unknown_key_of_another_table: "[lab]\nusers = 3";
    unknown_key_without_likeness: "[client]\nfoo.bar = 3";
    unknown_key_in_snake_case: "[lab]\npool_size = 3";
    unknown_table: "[clinet]\ntimeout = '1s'";
    unknown_method: "[request.place]\nget = \"/orders\"";
    wrong_type_number_in_quotes: "seed = \"42\"";
    wrong_type_duration_without_unit: "client.timeout = 10";
    wrong_type_one_for_a_list: "contract.first = 201";
    wrong_type_list_of_words: "contract.one-order-per = \"user\"";
    wrong_type_table_for_value: "[lab.instances]\nx = 1";
    wrong_type_value_for_table: "lab = true";
    wrong_type_two_brackets: "[[lab]]\ninstances = 2";
    wrong_type_body: "[request.place]\npost = '/orders/{key}'\nbody = '{}'";
    wrong_type_date_in_body: "[request.place]\npost = '/orders/{key}'\nbody = { at = 2026-01-01, x = nan }";
    out_of_range_count: "lab.instances = 1_000";
    out_of_range_negative: "seed = -1";
    out_of_range_duration: "lab.lease = \"10us\"";
    out_of_range_share: "products = { count = 0 }\n[[phase]]\nname = 'a'\nburst.same-key = { users = 1, threads = 2, overlap-share = 50 }\n";
    out_of_range_size: "client.longest-reply = \"1B\"";
    out_of_range_empty_list: "contract.first = []";
    unreadable_fraction: "client.timeout = \"1.5s\"";
    unreadable_two_units: "client.timeout = \"1m30s\"";
    unreadable_size: "client.longest-reply = \"1 mb\"";
    unknown_word: "lab.isolation = \"read_commited\"";
    unknown_preset: "contract.preset = \"stripe\"";
    missing_key_in_a_clause: "contract.in-progress = { code = [\"X\"] }";
    one_of_none: "[request.place]\nheaders.Idempotency-Key = '{key}'";
    one_of_two: "[request.place]\npost = '/orders/{key}'\nput = '/orders'";
    variable_unset: "request.place = { post = '/orders/{key}', headers.A = 'Bearer ${SECRET_TOKEN}' }";
    variable_empty: "request.place = { post = '/orders/{key}?${EMPTY}' }";
    variable_with_line_break: "request.place = { post = '/orders/{key}', headers.A = '${TOKEN}${TWO_LINES}' }";
    variable_that_is_a_hole: "request.place = { post = '/orders/${key}/{key}' }";
    variable_with_an_odd_name: "request.place = { post = '/orders/{key}', body.a = '${A B} ${' }";
    variable_beside_a_key: "request.place = { post = '/o', headers = { Idempotency-Key = '${TOKEN}-{key}' } }";
    variable_in_a_title: "title = \"costs ${TOKEN}\"";
    template_unknown_hole: "request.place = { post = '/orders/{key}', body.a = \"é \\u00e9 \\\"{usr}\\\" and {price}\" }";
    template_single_brace: "request.place = { post = '/orders/{key', body.a = '}' }";
    pointer_without_slash: "request.place = { post = '/orders/{key}', order-id = '$.order.id' }";
    pointer_with_bad_escape: "request.place = { post = '/orders/{key}', order-id = '/a~b' }";
    malformed_path: "request.place = { post = '/orders {key}' }";
    malformed_path_is_a_url: "request.place = { post = 'http://127.0.0.1/orders/{key}' }";
    malformed_header_name: "request.place = { post = '/orders/{key}', headers = { 'X User' = 'a', Content-Length = '3' } }";
    malformed_header_value: "request.place = { post = '/orders/{key}', headers.X-User = 'Jürgen' }";
    malformed_defect: "lab.defects = [\"Unlock_Before\"]";
    malformed_column: "audit.orders = { table = \"a.b.c\", id = \"order id\", user = 'u', key = 'k' }";
    malformed_empty_title: "title = \"\"";
    given_twice_in_a_list: "lab.defects = [\"rmw-stock\", \"rmw-stock\"]";
    given_twice_header: "[request.place]\npost = '/'\n[request.place.headers]\nIdempotency-Key = '{key}'\nidempotency-key = '{key}'";
    ignored_not_in_body: "[request.place]\npost = '/orders/{key}'\nbody = { userId = '{user}', trace = '{uuid}' }\nignored = ['/traceId']";
    key_never_sent: "[request.place]\npost = '/orders'";
    key_header_is_fresh_each_time: "[request.place]\npost = '/orders'\nheaders = { idempotency-key = '{uuid}' }";
    key_header_is_fixed: "contract.one-order-per = ['user']\n[request.place]\npost = '/orders'\nheaders = { Idempotency-Key = 'abc' }";
    column_not_audited: "audit.orders = { table = 'orders', id = 'id', user = 'user_id' }";
    business_column_not_audited: "contract.one-order-per = ['product']\n[audit.orders]\ntable = 'orders'\nid = 'id'";
    sold_without_status: "audit.orders = { table = 'orders', id = 'id', user = 'u', key = 'k', sold = ['PAID'] }";
    unknown_preset_is_nearly_one: "contract.preset = 'stripe-1'";
    unknown_budget: "budget = { p95-latency = '1s' }";
    key_with_two_carriers: "contract.key = { header = 'A', body = '/a' }";
    key_carrier_of_a_preset: "contract.preset = 'paypal'";
    key_carrier_not_in_body: "contract.preset = 'square'\nrequest.place = { post = '/orders/{key}', body = { a = 1 } }";
    key_too_long: "contract.key.longest = 20\nrequest.place = { post = '/orders', headers.Idempotency-Key = 'order-{key}' }";
    contract_word_or_table: "contract.other-parameters = 'old'\ncontract.missing-key = 3";
    mutation_ignored: "request.place = { post = '/{key}', body = { a = { b = 1 } }, ignored = ['/a'], mutate = { '/a/b' = [2] } }";
    mutation_not_in_body: "request.place = { post = '/{key}', body = { a = 1 }, mutate = { '/b' = [2] } }";
    mutation_changes_nothing: "request.place = { post = '/{key}', body = { a = 1 }, mutate = { '/a' = [2, 1] } }";
    mutation_with_a_hole: "request.place = { post = '/{key}', body = { a = 1 }, mutate = { '/a' = ['{user}', '${TOKEN}'] } }";
    default_with_another_value: "request.place = { post = '/{key}', body = { a = 1 }, defaults = { '/a' = 2, '/a/b' = 1 }, absent-or-null = ['/c', '/d/e'] }";
    default_twice: "request.place = { post = '/{key}', body = { a = 1 }, defaults = { '/c' = 2 }, absent-or-null = ['/c'] }";
    literal_credentials: "request.place = { post = '/{key}', headers = { Authorization = 'Bearer abc', cookie = 'a=b', X-Api-Key = 'k-{user}' } }";
    custom_sql_is_not_one_select: "audit = { sql = [{ title = 'a', query = 'DELETE FROM orders' }, { title = 'a', query = \"SELECT ';' -- ;\\n; SELECT 1;\" }, { title = 'c', query = '/* x */ with a as (select 1) select * from a;' }] }";
    setup_is_empty: "setup.sql = ['  ']\nteardown.sql = []";
    target_of_two_kinds: "target = { urls = ['http://127.0.0.1:1'], launch = { command = ['a'] } }";
    target_without_database: "target.urls = ['http://127.0.0.1:1']\nlab.instances = 3";
    target_that_is_no_url: "target.urls = ['127.0.0.1:8080', 'ftp://a', 'http://127.0.0.1/?a', '${TOKEN}']\npostgres.url = 'mysql://127.0.0.1/a'";
    target_on_another_host: "target.urls = ['http://orders.example.com', '${SECRET_URL}/a', 'http://u@[2001:db8::1]:80']\npostgres.url = 'postgres://127.0.0.1/a?host=db.example.com'";
    target_with_passwords: "target.urls = ['http://u:pw@127.0.0.1']\npostgres.url = 'postgres://u:pw@127.0.0.1/a'";
    allow_hosts_with_more: "allow-hosts = ['http://a', 'a:80', '']";
    launched_with_what_belongs_elsewhere: "lab.defects = ['D01']\npostgres.url = 'postgres://127.0.0.1/a'\n[target]\nready = '/'\nlaunch = { command = ['a', '{prot}'], env = { A = '{postgres.ulr}', 'B C' = '', D = 'redis://:pw@a' } }";
    database_beside_the_lab: "postgres.url = 'postgres://127.0.0.1/a'";
    user_that_no_header_carries: "actor.users = ['anna', 'Jürgen', '${UMLAUT}']\nrequest.place = { post = '/{key}', headers.X-User-Id = '{user}' }";
    pool_too_small: "contract.one-order-per = ['user']\nactor = { users = ['a'], products = [1, 2] }\nproducts.count = 3";
    stock_too_small_as_written: "products = { count = 1, stock = 1 }";
}

#[test]
fn an_empty_file_says_what_it_needs() {
    insta::assert_snapshot!(told(""));
}

#[test]
fn a_phase_is_a_list() {
    insta::assert_snapshot!(told("[phase]\nname = 'p'\n"));
}

#[test]
fn a_phase_without_a_burst() {
    insta::assert_snapshot!(told(
        "[[phase]]\nname = 'p'\n[[phase]]\nburst = {}\n[[phase]]\nname = 'q'\nburst.same-kee = {}\n"
    ));
}

#[test]
fn an_unknown_request() {
    let phase = PHASE.replace("threads = 2", "threads = 2, request = 'plaec'");
    insta::assert_snapshot!(told(&phase));
}

#[test]
fn a_burst_that_is_too_large() {
    insta::assert_snapshot!(told(&PHASE.replace("users = 2", "users = 50_000")));
}

#[test]
fn stock_that_would_sell_out_over_all_phases() {
    let phases = PHASE.replace("users = 2", "users = 200, quantity = 400")
        + &PHASE.replace("users = 2", "users = 100, quantity = 500").replace("'p'", "'q'");
    insta::assert_snapshot!(told(&phases));
}

#[test]
fn long_lines_tabs_carriage_returns_and_wide_characters_are_shown_in_place() {
    let long = format!("title = \"{}\" # {}", "x".repeat(300), "y".repeat(300));
    insta::assert_snapshot!(told_before_phase(&format!(
        "{long}\r\nlab = {{\tinstances = \t'2' }}\r\ntitel = \"数据库 \u{1F600}\"\r\n\
         products = {{ {}stok = 1 }}\r\n",
        " ".repeat(200)
    )));
}

#[test]
fn in_colour_the_words_are_the_same() {
    let mistakes = read("sed = 1").unwrap_err();
    let coloured = mistakes.render(true);
    assert!(coloured.contains("\u{1b}["));
    let mut plain = String::new();
    let mut rest = coloured.as_str();
    while let Some(at) = rest.find("\u{1b}[") {
        plain.push_str(&rest[..at]);
        rest = &rest[at + rest[at..].find('m').unwrap() + 1..];
    }
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(words(&(plain + rest)), words(&mistakes.render(false)));
}

#[test]
fn a_flood_of_mistakes_is_counted_and_cut() {
    let text: String = (0..5_000).map(|n| format!("k{n} = 1\n")).collect();
    let told = told_before_phase(&text);
    assert_eq!(told.matches("error[").count(), 100);
    assert!(told.ends_with("and 4900 more\n\n5000 mistakes in profiles/x.toml\n"));
}

/// Phases of these bursts, told with the requests that they may send.
fn told_of(bursts: &[&str]) -> String {
    let requests = "[request.place]\npost = '/orders'\nheaders.Idempotency-Key = '{key}'\nbody.q = '{quantity}'\n\
                    [request.pay]\npost = '/orders/{order}/pay'\n\
                    [request.close]\npost = '/orders/close'\n\
                    [request.bare]\npost = '/bare'\nheaders.K = '{key}'\n\
                    [request.guarded]\npost = '/guarded'\nheaders = { K = '{key}', T = '{token}' }\n\
                    [request.token]\npost = '/tokens'\n";
    let phases = bursts
        .iter()
        .enumerate()
        .map(|(number, burst)| format!("[[phase]]\nname = '{number}'\n{burst}\n"));
    told(&format!("{requests}{}", phases.collect::<String>()))
}

#[test]
fn bursts_that_send_what_they_cannot() {
    insta::assert_snapshot!(told_of(&[
        "burst.mutated = { users = 2, threads = 2 }",
        "burst.mixed = { users = 2, threads = 2, mutated-share = 0.5 }",
        "burst.same-fingerprint = { users = 2, threads = 2, request = 'bare' }",
        "burst.sequential = { users = 2, request = 'bare', vary = ['body'], route = 'plce' }",
        "burst.race = { users = 2, requests = ['pay'] }",
        "burst.race = { users = 2, requests = ['pay', 'close'], request = 'place' }",
        "burst.same-key = { users = 2, threads = 2, request = 'pay' }",
        "burst.fresh-key = { users = 2, threads = 2, request = 'guarded' }",
        "burst.submit-token = { users = 2, threads = 2, token = 'tokn', request = 'token' }",
        "burst.bad-keys = { request = 'bare' }",
    ]));
}

#[test]
fn bursts_whose_numbers_leave_nothing_to_find() {
    insta::assert_snapshot!(told_of(&[
        "burst.same-key = { users = 2, threads = 1 }",
        "burst.shared-key = { users = 2, sharing = 1 }",
        "burst.last-unit = { users = 2, quantity = 3, stock = 6 }",
        "burst.mixed = { users = 2, threads = 2 }",
        "burst.mixed = { users = 2, threads = 2, variant-share = 0.6, fresh-share = 0.6 }",
        "rate = { per-second = 100_000, for = '1h', quantity = 1 }",
        "burst.race = { users = 20_000, threads = 2, requests = ['pay', 'pay2'] }",
        "burst.last-unit = { users = 2, stock = 0 }",
        "rate = { per-second = 4, for = '100ms' }",
    ]));
}

#[test]
fn charges_that_meet_more_than_one_fate() {
    let lab = "[lab.payments]\ndrop-share = 0.7\ndecline-share = 0.4\n";
    insta::assert_snapshot!(told(&format!("{lab}{PHASE}")));
    read(&format!("{}{PHASE}", lab.replace("0.7", "0.6"))).expect("all of them, and no more");
}

#[test]
fn one_request_races_against_itself_in_two_threads() {
    let pay = "[request.place]\npost = '/orders'\nheaders.Idempotency-Key = '{key}'\n\
               [request.pay]\npost = '/orders/{order}/pay'\n[[phase]]\nname = 'p'\n";
    let race = |threads| {
        format!("{pay}burst.race = {{ users = 2, requests = ['pay'], threads = {threads} }}\n")
    };
    read(&race(2)).expect("two attempts of one request meet");
    read(&race(1)).expect_err("one runs alone");
}

#[test]
fn bursts_that_arrive_in_two_ways() {
    insta::assert_snapshot!(told_of(&[
        "burst.same-key = { users = 2, threads = 2, arrival = 'spread', stagger = '4ms' }",
        "burst.same-key = { users = 2, threads = 2, arrival = 'staggered' }",
        "burst.same-key = { users = 2, threads = 2, stagger = '4ms', release = 'frozen' }",
        "burst.same-key = { users = 2, threads = 2, arrival = 'all' }\nrate = { per-second = 1, for = '1s' }",
    ]));
}

#[test]
fn stock_is_counted_for_each_kind() {
    let stock = "products = { count = 2, stock = 19 }\n";
    let phases = "[[phase]]\nname = 'a'\nburst.fresh-key = { users = 4, threads = 3 }\n\
                  [[phase]]\nname = 'b'\nburst.mutated = { users = 4, threads = 2 }\n\
                  [[phase]]\nname = 'c'\nrate = { per-second = 10, for = '2s', duplicate-share = 0.2 }\n\
                  [[phase]]\nname = 'd'\nburst.last-unit = { users = 1000, stock = 5 }\n";
    insta::assert_snapshot!(told(&format!("{stock}{phases}")));
    let enough = format!("{}{phases}", stock.replace("= 19", "= 20"));
    read(&enough).unwrap_or_else(|mistakes| panic!("{}", mistakes.render(false)));
}

#[test]
fn a_user_that_no_header_carries_may_stand_in_a_body() {
    let text = "actor.users = ['anna', 'Jürgen']\nproducts.count = 3\n\
                request.place = { post = '/{key}', body.user = '{user}' }\n";
    let read = read(&format!("{text}{PHASE}"));
    read.unwrap_or_else(|mistakes| panic!("{}", mistakes.render(false)));
}

#[test]
fn an_attached_target_is_not_frozen() {
    let frozen = crate::ATTACHED.replace("threads = 2", "threads = 2, release = 'frozen'");
    insta::assert_snapshot!(told(&frozen));
}

#[test]
fn proxies_that_may_not_stand_where_they_are_told_to() {
    let text = "[target]\nurls = ['http://127.0.0.1:8080']\n\
                [postgres]\nurl = 'postgres://u@127.0.0.1:16432/d'\nproxy = '0.0.0.0:16432'\n\
                [redis]\nproxy = '127.0.0.1:9090'\n\
                [payments]\nurl = 'http://10.0.0.9'\nproxy = '127.0.0.1:9090'\n\
                [wires]\nlisten-on = ['172.17.0.1']\n";
    insta::assert_snapshot!(told_before_phase(text));
}

#[test]
fn addresses_steps_and_keys_that_are_none() {
    insta::assert_snapshot!(told_before_phase(
        "[target]\nurls = ['http://127.0.0.1:8080']\n\
         [postgres]\nurl = 'postgres://u@127.0.0.1/d'\nproxy = 'localhost:16432'\n\
         [redis]\nurl = 'valkey://127.0.0.1'\nproxy = '127.0.0.1:0'\n\
         idempotency-keys = 'idem:{user}:{order}'\nlock-keys = ''\n\
         [payments]\nurl = 'http://127.0.0.1:9090'\n\
         [wires.roles]\n'mysql SET x' = 'lock'\n'redis set x' = 'lock'\n\
         'redis SET x #1' = 'lock'\n'redis SET ' = 'lock'\n'redis SET x' = 'lok'\n"
    ));
}

#[test]
fn servers_that_belong_to_another_target() {
    let servers = "[redis]\nurl = 'redis://127.0.0.1'\nproxy = '127.0.0.1:16379'\n\
                   [payments]\nurl = 'http://127.0.0.1:9090'\nproxy = '127.0.0.1:19090'\n";
    let launch = "[target.launch]\ncommand = ['./server']\n";
    let told =
        [servers.to_owned(), format!("{launch}{servers}")].map(|text| told_before_phase(&text));
    insta::assert_snapshot!(told.join("\n"));
}

#[test]
fn a_proxy_may_listen_where_it_is_listed() {
    let text = "[target]\nurls = ['http://127.0.0.1:8080']\n\
                [postgres]\nurl = 'postgres://u@127.0.0.1/d'\nproxy = '0.0.0.0:16432'\n\
                [wires]\nlisten-on = ['0.0.0.0']\n";
    read(&format!("{text}{PHASE}")).unwrap_or_else(|mistakes| panic!("{}", mistakes.render(false)));
}
