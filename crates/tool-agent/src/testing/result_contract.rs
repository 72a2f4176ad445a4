//! [`assert_results`]: checks an implementation of [`ResultStore`].

use std::future::Future;
use std::time::Duration;

use tool_core::registry::{ResultLimits, ResultScope, ResultStore};
use tool_core::runtime::block_on;

/// Checks that a [`ResultStore`] behaves as documented. Call it in a test. The closure opens the store several times with
/// some limits, as different programs would. The store must be empty at first.
///
/// ```
/// use tool_agent::results::FileResults;
/// use tool_agent::testing::assert_results;
///
/// # let folder = std::env::temp_dir().join(format!("tool-core-results-{}", std::process::id()));
/// assert_results(|limits| FileResults::new(&folder).limits(limits));
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Panics
///
/// Panics if the store behaves otherwise.
pub fn assert_results<S: ResultStore>(open: impl Fn(ResultLimits) -> S) {
    let all = ResultLimits::new();
    texts_are_kept_exactly(&open(all), &open(all));
    scopes_are_told_apart(&open(all));
    a_removed_scope_is_empty(&open(all), &open(all));
    no_scope_pushes_out_others(&open);
    the_oldest_goes_first(&open);
    each_limit_holds(&open);
}

fn wait<T>(future: impl Future<Output = T>) -> T {
    block_on(future).expect("a platform with threads")
}

fn put(store: &impl ResultStore, scope: &str, handle: &str, text: &str) {
    let put = wait(store.put(&ResultScope::new(scope), handle, text.to_owned()));
    put.unwrap_or_else(|error| panic!("{error}"));
}

fn read(store: &impl ResultStore, scope: &str, handle: &str) -> Option<String> {
    let read = wait(store.read(&ResultScope::new(scope), handle));
    let read = read.unwrap_or_else(|error| panic!("{error}"));
    read.map(|text| text.to_string())
}

fn texts_are_kept_exactly(writer: &impl ResultStore, reader: &impl ResultStore) {
    let long = "a line\n".repeat(100_000);
    let texts = ["", "\n", "a\r\nb\u{0}é😀", "' \" %", &long];
    for (at, text) in texts.iter().enumerate() {
        let handle = format!("exact{at}");
        put(writer, "exact", &handle, text);
        assert_eq!(read(reader, "exact", &handle).as_deref(), Some(*text));
    }
}

fn scopes_are_told_apart(store: &impl ResultStore) {
    let scopes = ["", "a", "A", "a/b", "a\u{0}", "['a']", &"a".repeat(1000)];
    for scope in scopes {
        put(store, scope, "same", scope);
    }
    for scope in scopes {
        assert_eq!(read(store, scope, "same").as_deref(), Some(scope));
    }
    // A model may have made them up.
    let handles = [
        "", "Same", "same ", "../same", "a/same", "/", "sa%", "'", "\u{0}",
    ];
    for handle in handles {
        assert_eq!(read(store, "a", handle), None, "the handle {handle:?}");
    }
    // Where one name ends and the other starts is known.
    put(store, "left", "right", "whole");
    assert_eq!(read(store, "leftri", "ght"), None);
    assert_eq!(read(store, "", "leftright"), None);
}

/// Removes what earlier checks have put, so that it does not count.
fn remove(store: &impl ResultStore, scopes: &[&str]) {
    for scope in scopes {
        let removed = wait(store.remove(&ResultScope::new(*scope)));
        removed.unwrap_or_else(|error| panic!("{error}"));
    }
}

fn a_removed_scope_is_empty(writer: &impl ResultStore, reader: &impl ResultStore) {
    put(writer, "a", "other", "text");
    remove(reader, &["a", "no such scope"]);
    assert_eq!(read(writer, "a", "same"), None);
    assert_eq!(read(writer, "a", "other"), None);
    for scope in ["", "A", "a/b"] {
        assert_eq!(read(writer, scope, "same").as_deref(), Some(scope));
    }
    let long = "a".repeat(1000);
    remove(
        writer,
        &["exact", "", "A", "a/b", "a\u{0}", "['a']", &long, "left"],
    );
    assert_eq!(read(reader, "left", "right"), None);
}

fn no_scope_pushes_out_others<S: ResultStore>(open: &impl Fn(ResultLimits) -> S) {
    let by_count = open(ResultLimits::new().count(4));
    let by_bytes = open(ResultLimits::new().bytes(40));
    for (store, texts) in [
        (&by_count, ["1", "1"]),
        (&by_bytes, ["1234567890", "123456789012"]),
    ] {
        for handle in ["one", "two"] {
            put(store, "fair", handle, texts[0]);
        }
        let handles: Vec<_> = (0..20).map(|number| format!("many{number}")).collect();
        for handle in &handles {
            put(store, "greedy", handle, texts[1]);
        }
        assert!(read(store, "fair", "one").is_some() && read(store, "fair", "two").is_some());
        // Of its own, the newest stay.
        assert_eq!(read(store, "greedy", "many0"), None);
        assert!(read(store, "greedy", "many19").is_some());
        remove(store, &["fair", "greedy"]);
    }
    // One result can be more than a share. It is not kept, and the caller knows.
    put(&by_bytes, "fair", "one", "12345678901234567890");
    let huge = wait(by_bytes.put(&ResultScope::new("greedy"), "huge", "x".repeat(30)));
    assert!(
        huge.expect_err("others need the rest")
            .to_string()
            .contains("no room")
    );
    assert_eq!(read(&by_bytes, "greedy", "huge"), None);
    assert!(read(&by_bytes, "fair", "one").is_some());
    remove(&by_bytes, &["fair"]);
}

fn the_oldest_goes_first<S: ResultStore>(open: &impl Fn(ResultLimits) -> S) {
    let two = open(ResultLimits::new().count(2));
    for handle in ["one", "two", "three"] {
        put(&two, "count", handle, handle);
    }
    let left = ["one", "two", "three"].map(|handle| read(&two, "count", handle).is_some());
    assert_eq!(left, [false, true, true]);
    remove(&two, &["count"]);

    let ten_bytes = open(ResultLimits::new().bytes(10));
    put(&ten_bytes, "bytes", "four", "4444");
    put(&ten_bytes, "bytes", "six", "666666");
    assert!(read(&ten_bytes, "bytes", "four").is_some());
    // Other scopes count, too.
    put(&ten_bytes, "other", "one", "1");
    assert_eq!(read(&ten_bytes, "bytes", "four"), None);
    assert!(read(&ten_bytes, "bytes", "six").is_some());
}

fn each_limit_holds<S: ResultStore>(open: &impl Fn(ResultLimits) -> S) {
    let small = open(ResultLimits::new().bytes(10));
    let put_long = wait(small.put(&ResultScope::new("limit"), "long", "x".repeat(11)));
    let error = put_long.expect_err("it has more than 10 bytes").to_string();
    assert!(error.contains("10 bytes"), "{error}");
    assert_eq!(read(&small, "limit", "long"), None);
    // The others are still there.
    assert!(read(&small, "bytes", "six").is_some());

    put(&open(ResultLimits::new()), "limit", "old", "text");
    let no_time = open(ResultLimits::new().life(Duration::ZERO));
    let put_older = no_time.put(&ResultScope::new("limit"), "older", "text".to_owned());
    // An error, or a result that is gone at once.
    let _ = wait(put_older);
    assert_eq!(read(&no_time, "limit", "older"), None);
    assert_eq!(read(&no_time, "limit", "old"), None);
}
