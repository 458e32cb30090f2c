//! Takes values out of checked tables: what the check has put there is there.

use std::time::Duration;

use super::super::node::Node;

pub(super) fn at<'a>(node: &'a Node, name: &str) -> &'a Node {
    node.get(name).expect("the check has put a value where one is required or has a default")
}

pub(super) fn count<T: TryFrom<u64>>(node: &Node, name: &str) -> T {
    let count = at(node, name).count().and_then(|count| T::try_from(count).ok());
    count.expect("the description's range fits the type")
}

pub(super) fn share(node: &Node, name: &str) -> f64 {
    at(node, name).share().expect("the description says that this is a share")
}

pub(super) fn flag(node: &Node, name: &str) -> bool {
    at(node, name).flag().expect("the description says that this is a flag")
}

pub(super) fn duration(node: &Node, name: &str) -> Duration {
    at(node, name).duration().expect("the description says that this is a duration")
}

pub(super) fn maybe_duration(node: &Node, name: &str) -> Option<Duration> {
    node.get(name).and_then(Node::duration)
}

pub(super) fn word(node: &Node, name: &str) -> &'static str {
    at(node, name).word().expect("the description says that this is a word")
}

pub(super) fn maybe_word(node: &Node, name: &str) -> Option<&'static str> {
    node.get(name).and_then(Node::word)
}

pub(super) fn text(node: &Node, name: &str) -> String {
    at(node, name).text().expect("the description says that this is a text").to_owned()
}

pub(super) fn maybe_text(node: &Node, name: &str) -> Option<String> {
    node.get(name).and_then(Node::text).map(str::to_owned)
}

pub(super) fn texts(list: &Node) -> Vec<String> {
    list.items().iter().filter_map(Node::text).map(str::to_owned).collect()
}

/// Which of `all` the word stands for.
pub(super) fn meaning<T: Copy>(all: &[T], word_of: fn(T) -> &'static str, word: &str) -> T {
    let meant = all.iter().copied().find(|&one| word_of(one) == word);
    meant.expect("the description lists the words of the type")
}
