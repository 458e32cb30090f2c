//! The target against everything that belongs to one kind of target only, and against its hosts.

use super::super::mistake::{Mistake, quoted};
use super::super::node::{Entry, Node};
use super::super::suggest::closest;
use super::super::urls::{hosts, is_loopback, is_same_host};
use super::{count, loads};
use crate::codes;

/// What dupeproof fills into the command and the environment of a launched target.
const PLACES: [&str; 3] = ["port", "postgres.url", "redis.url"];

pub(super) fn compare(profile: &Node, found: &mut Vec<Mistake>) {
    let target = profile.entry("target");
    let urls = target.filter(|target| target.node.mentions("urls"));
    let launch = target.filter(|target| target.node.mentions("launch"));
    if urls.is_some() && launch.is_some() {
        return;
    }
    match (urls, launch) {
        (Some(target), _) => {
            lab_is_left_out(profile, "an attached target", found);
            has_database(profile, target, found);
        }
        (None, Some(target)) => {
            lab_is_left_out(profile, "a launched target", found);
            database_is_left_out(profile, "a launched target has a PostgreSQL of its own", found);
            ready_is_its_own(&target.node, found);
            places_are_known(&target.node, found);
        }
        (None, None) if target.is_none() => {
            database_is_left_out(profile, "the lab has a PostgreSQL of its own", found);
        }
        (None, None) => {}
    }
    hosts_are_allowed(profile, found);
    pools_suffice(profile, found);
}

fn conflict(span: std::ops::Range<usize>, what: String, label: &str, help: &str) -> Mistake {
    Mistake::new(&codes::TARGET_CONFLICT, span, what).label(label).help(help)
}

fn lab_is_left_out(profile: &Node, target: &str, found: &mut Vec<Mistake>) {
    let Some(lab) = profile.get("lab") else { return };
    for entry in lab.entries().iter().filter(|entry| lab.is_written(entry)) {
        let what = format!("`lab.{}` means nothing for {target}", entry.name);
        let help = "`[lab]` builds the embedded shop; take it out, or take `[target]` out";
        found.push(conflict(entry.key.clone(), what, "the shop of the lab isn't drilled", help));
    }
}

fn has_database(profile: &Node, target: &Entry, found: &mut Vec<Mistake>) {
    if !profile.mentions("postgres") {
        let what = "the audit doesn't know the database of the attached target";
        found.push(
            Mistake::new(&codes::DATABASE_MISSING, target.key.clone(), what)
                .label("`[postgres]` is missing")
                .help("add `[postgres]` with `url = \"${DATABASE_URL}\"`: the verdict rests on its rows"),
        );
    }
}

fn database_is_left_out(profile: &Node, why: &str, found: &mut Vec<Mistake>) {
    if let Some(postgres) = profile.entry("postgres") {
        let what = "`[postgres]` belongs to an attached target".to_owned();
        let help = "take it out, or name the service that uses it: `[target] urls`";
        found.push(conflict(postgres.key.clone(), what, why, help));
    }
}

fn ready_is_its_own(target: &Node, found: &mut Vec<Mistake>) {
    if let Some(ready) = target.entry("ready") {
        let what = "`target.ready` belongs to `urls`".to_owned();
        let help = "write it as `ready` within `launch`";
        found.push(conflict(ready.key.clone(), what, "a launched target has its own", help));
    }
}

/// A brace in a command or a variable may mean anything; what is nearly one of ours is a slip.
fn places_are_known(target: &Node, found: &mut Vec<Mistake>) {
    let Some(launch) = target.get("launch") else { return };
    let command = launch.get("command").map(Node::items).unwrap_or_default();
    let env = launch.get("env").map(Node::entries).unwrap_or_default();
    let texts = command.iter().filter_map(|node| Some((node, node.text()?)));
    let values = env.iter().filter_map(|e| Some((&e.node, e.node.secret()?.written())));
    for (node, text) in texts.chain(values) {
        for piece in text.split('{').skip(1) {
            let Some((name, _)) = piece.split_once('}') else { continue };
            if PLACES.contains(&name) {
                continue;
            }
            if let Some(meant) = closest(name, PLACES) {
                let what = format!("nothing fills {}", quoted(&format!("{{{name}}}")));
                found.push(
                    Mistake::new(&codes::TEMPLATE, node.span.clone(), what)
                        .label("not one of `{port}`, `{postgres.url}` and `{redis.url}`")
                        .help(format!("did you mean `{{{meant}}}`?")),
                );
            }
        }
    }
}

fn hosts_are_allowed(profile: &Node, found: &mut Vec<Mistake>) {
    let Some(allowed) = profile.get("allow-hosts") else { return };
    let is_allowed = |host: &str| {
        let mut listed = allowed.items().iter().filter_map(Node::text);
        is_loopback(host) || listed.any(|listed| is_same_host(listed, host))
    };
    let urls = profile.get("target").and_then(|target| target.get("urls"));
    let urls = urls.map(Node::items).unwrap_or_default().iter();
    let servers = ["postgres", "redis", "payments"];
    let servers = servers.iter().filter_map(|name| profile.get(name)?.get("url"));
    for node in urls.chain(servers) {
        let Some(url) = node.secret() else { continue };
        for host in hosts(url.reveal()).iter().filter(|host| !is_allowed(host)) {
            // A host that came from the environment is told by the name of its variable.
            let is_plain = hosts(url.written()).contains(host);
            let name =
                if is_plain { quoted(host) } else { format!("the host of `{}`", url.written()) };
            let what = format!("{name} is neither this machine nor in `allow-hosts`");
            let help = match is_plain {
                true => format!(
                    "if it is meant, say so at the head of the profile: `allow-hosts = [\"{host}\"]`"
                ),
                false => {
                    "if it is meant, write its name into `allow-hosts` at the head of the profile"
                        .to_owned()
                }
            };
            found.push(
                Mistake::new(&codes::HOST_NOT_ALLOWED, node.span.clone(), what)
                    .label("a drill would hit another machine")
                    .help(
                        "a drill sends thousands of duplicates: no slip may turn it on production",
                    )
                    .help(help),
            );
        }
    }
}

fn pools_suffice(profile: &Node, found: &mut Vec<Mistake>) {
    let Some(actor) = profile.get("actor") else { return };
    let mut report = |span: &std::ops::Range<usize>, what: String, label: String, help: &str| {
        let mistake = Mistake::new(&codes::POOL_TOO_SMALL, span.clone(), what);
        found.push(mistake.label(label).help(help));
    };
    if let Some(products) = actor.get("products")
        && let Some(list) = profile.get("products").filter(|products| products.writes("count"))
        && let Some(count) = count(list, "count")
        && count != products.items().len() as u64
    {
        let there = products.items().len();
        report(
            &products.span,
            format!("`[products] count` is {count}, and the list has {there}"),
            "these are the products of the run".to_owned(),
            "leave `count` out beside a list of products",
        );
    }
    let orders = profile.get("audit").and_then(|audit| audit.get("orders"));
    let by_user = super::counted_by(profile).is_some_and(|columns| columns == ["user"])
        || orders.is_some_and(|orders| !orders.mentions("key"));
    if let Some(users) = actor.get("users").filter(|_| by_user) {
        let needed: u64 = loads(profile).filter_map(|(_, load)| count(load, "users")).sum();
        let there = users.items().len() as u64;
        if needed > there {
            report(
                &users.span,
                format!("{needed} intents need a user each, and the list has {there}"),
                "orders are told apart by their user".to_owned(),
                "list more users, lower `users` of the phases, or name the key's column in `[audit] orders`",
            );
        }
    }
}
