//! Proxies: where they may listen, what they stand in front of, and for which target.

use std::net::{IpAddr, SocketAddr};
use std::ops::Range;

use super::super::mistake::{Mistake, quoted};
use super::super::node::{Entry, Node};
use super::super::urls::{is_loopback, is_same_host, place};
use crate::codes;

/// The sections that may have a proxy, and the port of their servers where a URL names none.
const SECTIONS: [(&str, u16); 3] = [("postgres", 5432), ("redis", 6379), ("payments", 80)];

pub(super) fn compare(profile: &Node, found: &mut Vec<Mistake>) {
    sections_fit_the_target(profile, found);
    let mut taken: Vec<(SocketAddr, &str)> = Vec::new();
    for (name, port) in SECTIONS {
        let Some(section) = profile.get(name) else { continue };
        let Some(proxy) = section.get("proxy") else { continue };
        let Some(listen) = proxy.text().and_then(|text| text.parse::<SocketAddr>().ok()) else {
            continue;
        };
        may_listen(profile, listen, &proxy.span, found);
        if let Some((_, other)) = taken.iter().find(|(other, _)| *other == listen) {
            let what = format!("two proxies would listen on {}", quoted(&listen.to_string()));
            let label = format!("`{other}.proxy` is there already");
            found.push(wrong(&proxy.span, what, &label).help("give each a port of its own"));
        }
        taken.push((listen, name));
        stands_in_front_of_something(section, name, listen, port, found);
    }
}

fn wrong(span: &Range<usize>, what: String, label: &str) -> Mistake {
    Mistake::new(&codes::PROXY_ADDRESS, span.clone(), what).label(label)
}

fn may_listen(profile: &Node, listen: SocketAddr, span: &Range<usize>, found: &mut Vec<Mistake>) {
    let host = listen.ip().to_string();
    let listed = profile.get("wires").and_then(|wires| wires.get("listen-on"));
    let mut listed = listed.map(Node::items).unwrap_or_default().iter().filter_map(Node::text);
    if is_loopback(&host) || listed.any(|listed| is_same_host(listed, &host)) {
        return;
    }
    let what = format!("{} is not loopback, and `wires.listen-on` does not list it", quoted(&host));
    found.push(
        wrong(span, what, "others could reach the server through this proxy")
            .help("listen on `127.0.0.1` where the target runs on this machine")
            .help(format!("if it is meant, say so: `[wires] listen-on = [\"{host}\"]`")),
    );
}

fn stands_in_front_of_something(
    section: &Node,
    name: &str,
    listen: SocketAddr,
    port: u16,
    found: &mut Vec<Mistake>,
) {
    let Some(Entry { node: url, .. }) = section.entry("url") else {
        if name == "redis" {
            let what = "`redis.proxy` has nothing to stand in front of".to_owned();
            let span = section.get("proxy").map_or(&section.span, |proxy| &proxy.span);
            let help = "add `url = \"redis://127.0.0.1:6379\"`: where the target's Redis is";
            found.push(wrong(span, what, "`redis.url` is missing").help(help));
        }
        return;
    };
    let Some((host, server)) = url.secret().and_then(|url| place(url.reveal())) else { return };
    if server.unwrap_or(port) == listen.port() && is_there_too(&host, listen.ip()) {
        let span = section.get("proxy").map_or(&section.span, |proxy| &proxy.span);
        let what = format!("`{name}.proxy` is the address of the server itself");
        found.push(
            wrong(span, what, "the server listens there").help(
                "take another port, and let the target connect to that one while it is drilled",
            ),
        );
    }
}

/// Whether a server on this host would be found at the address, or would hold it.
fn is_there_too(host: &str, listen: IpAddr) -> bool {
    let on_this_machine = is_loopback(host) && listen.is_unspecified();
    // A name of this machine may be any of its loopback addresses.
    let by_name = is_loopback(host) && host.parse::<IpAddr>().is_err() && listen.is_loopback();
    is_same_host(host, &listen.to_string()) || on_this_machine || by_name
}

fn sections_fit_the_target(profile: &Node, found: &mut Vec<Mistake>) {
    let target = profile.entry("target").map(|target| &target.node);
    let has = |name| target.is_some_and(|target| target.mentions(name));
    let (is_lab, is_launched) = (target.is_none(), has("launch") && !has("urls"));
    let mut report = |span: &Range<usize>, what: String, label: &str, help: &str| {
        let mistake = Mistake::new(&codes::TARGET_CONFLICT, span.clone(), what);
        found.push(mistake.label(label).help(help));
    };
    if let Some(redis) = profile.entry("redis") {
        if is_lab {
            let help = "take it out; `lab.proxies` says whether there are proxies";
            let what = "`[redis]` belongs to a target of your own".to_owned();
            report(&redis.key, what, "the lab has a Redis of its own", help);
        } else if is_launched {
            for name in ["url", "proxy"] {
                let Some(entry) = redis.node.entry(name) else { continue };
                let help = "take it out; `launch.proxies` says whether there are proxies";
                let what = format!("`redis.{name}` belongs to an attached target");
                report(&entry.key, what, "a launched target has a Redis of its own", help);
            }
        }
    }
    if let Some(payments) = profile.entry("payments").filter(|_| is_lab || is_launched) {
        let help = match is_lab {
            true => "the lab's provider is `[lab.payments]`",
            false => "take it out, or name the service that uses it: `[target] urls`",
        };
        let what = "`[payments]` belongs to an attached target".to_owned();
        report(&payments.key, what, "this target has no provider of yours", help);
    }
}
