//! Runs the toolkit as a user does, and checks its database and its catalogue.

use std::fs;
use std::sync::LazyLock;

use examples::folder::Temporary;
use examples::program::{assert_closed_early, assert_rejected, run};
use rusqlite::Connection;
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};
use tool_core::{Registry, ToolCall, ToolErrorKind, ToolResult};
use tool_docs::{Docs, testing};

#[path = "../toolkit_docs/database.rs"]
mod database;
#[path = "../toolkit_docs/tools.rs"]
mod tools;

fn registry() -> Registry {
    let database = database::Database::open(None).expect("a library");
    let registry = Registry::builder().toolset("", tools::Toolkit { database });
    registry.build().expect("three tools")
}

fn call(registry: &Registry, tool: &str, arguments: Value) -> ToolResult {
    static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| {
        Builder::new_multi_thread()
            .enable_time()
            .build()
            .expect("a runtime")
    });
    RUNTIME.block_on(registry.call(ToolCall::new("1", tool, arguments)))
}

fn query(registry: &Registry, query: &str) -> ToolResult {
    call(registry, "sql_query", json!({ "query": query }))
}

/// After an intended change: `TOOL_CORE_UPDATE=1 cargo test --features toolkit_docs`.
#[test]
fn the_catalogue_is_up_to_date() {
    let docs = Docs::new(&registry()).title("Toolkit");
    testing::check(&registry())
        .expect_tools(["calculator", "echo", "sql_query"])
        .lock("toolkit_docs/tools.lock.json")
        .catalogue(&docs, "toolkit_docs/TOOLS.md")
        .catalogue(&docs, "toolkit_docs/tools.html")
        .examples()
        .run();
}

#[test]
fn every_tool_documents_its_use_and_its_result() {
    let written = Temporary::new().expect("a folder");
    let folder = written.path().to_str().expect("a path that is text");
    let ran = run("toolkit_docs", &["--catalogue", folder], "");
    assert_eq!(ran.code, Some(0), "{}", ran.log);
    for name in ["TOOLS.md", "tools.html"] {
        let text = fs::read_to_string(written.path().join(name)).expect("a catalogue");
        for part in [
            "do not calculate yourself",
            "Left operand.",
            "if the limit omitted rows",
        ] {
            assert!(text.contains(part), "{name} lacks {part:?}");
        }
    }
    // Again, as after a change; but not over another file.
    assert_eq!(
        run("toolkit_docs", &["--catalogue", folder], "").code,
        Some(0)
    );
    fs::write(written.path().join("tools.html"), "mine").expect("a file");
    let said = "tools.html was not written by tool-docs";
    assert_rejected("toolkit_docs", &["--catalogue", folder], "", said);
    for tool in registry().specs() {
        assert!(tool.when_to_use().is_some() && tool.returns().is_some());
        assert!(tool.prompt().contains("When to use: "));
    }
}

/// Stricter than Python, where a bool is a number and a number in quotes may pass.
#[test]
fn inputs_are_what_their_types_say() {
    let registry = registry();
    let sum = |a: Value, b: Value| {
        let arguments = json!({"operation": "add", "a": a, "b": b});
        call(&registry, "calculator", arguments)
            .content()
            .to_owned()
    };
    assert_eq!(sum(json!(1), json!(0.5)), "1.5");
    for odd in [json!(true), json!("1"), json!([1]), json!({}), json!(null)] {
        let text = sum(odd.clone(), json!(1));
        assert!(text.starts_with("invalid arguments"), "{odd}: {text}");
        assert!(text.contains("- a: "), "{odd}: {text}");
    }
    let arguments = json!({"operation": "power", "a": true, "c": 3});
    let result = call(&registry, "calculator", arguments);
    let violations = result.error().expect("bad arguments").violations().iter();
    let mut paths: Vec<_> = violations.map(tool_core::schema::Violation::path).collect();
    paths.sort_unstable();
    assert_eq!(paths, ["a", "b", "c", "operation"]);

    for (operation, a, b) in [("div", 1.0, 0.0), ("mul", 1e300, 1e300)] {
        let arguments = json!({"operation": operation, "a": a, "b": b});
        let result = call(&registry, "calculator", arguments);
        let error = result.error().expect("no number");
        assert_eq!(error.kind(), ToolErrorKind::Failed);
    }
}

#[test]
fn values_are_bound_and_never_read_as_sql() {
    let registry = registry();
    let by = |author: &str| {
        let arguments = json!({
            "query": "SELECT title FROM books WHERE author = ?1", "parameters": [author],
        });
        call(&registry, "sql_query", arguments).content().to_owned()
    };
    assert!(by("George Eliot").contains("Middlemarch"));
    assert!(by("' OR 1 = 1 --").contains(r#""rows":[]"#));
    let arguments = json!({"query": "SELECT ?1, ?2, ?3, ?4", "parameters": [1, 2.5, "x", null]});
    let result = call(&registry, "sql_query", arguments);
    assert!(
        result.content().contains(r#"[[1,2.5,"x",null]]"#),
        "{}",
        result.content()
    );
    let arguments = json!({"query": "SELECT ?1", "parameters": [1, 2]});
    let result = call(&registry, "sql_query", arguments);
    assert!(
        result.content().contains("2 parameters for 1"),
        "{}",
        result.content()
    );
    let arguments = json!({"query": "SELECT ?1", "parameters": [true]});
    let result = call(&registry, "sql_query", arguments);
    assert!(
        result.content().contains("parameters[0]"),
        "{}",
        result.content()
    );
}

#[test]
fn the_database_is_read_only() {
    let registry = registry();
    for statement in [
        "DELETE FROM books",
        "DROP TABLE books",
        "INSERT INTO books VALUES (9, 'x', 'y', 1, 1)",
        "UPDATE books SET title = ''",
        "CREATE TEMP TABLE t (a)",
        "CREATE VIEW v AS SELECT 1",
        "PRAGMA user_version = 7",
        "PRAGMA table_info(books)",
        "ATTACH 'other.sqlite' AS other",
        "VACUUM INTO 'copy.sqlite'",
        "BEGIN EXCLUSIVE",
        "SAVEPOINT s",
        "EXPLAIN DELETE FROM books",
        "SELECT 1; DELETE FROM books",
        "WITH gone AS (SELECT 1) DELETE FROM books",
        "SELECT load_extension('x')",
        "SELECT writefile('x', 'y')",
    ] {
        let result = query(&registry, statement);
        assert!(result.is_error(), "{statement}: {}", result.content());
        assert!(
            !result.content().contains("rusqlite"),
            "{}",
            result.content()
        );
    }
    let count = query(&registry, "SELECT count(*), sum(price) FROM books");
    assert!(
        count.content().contains("[[5,47.4]]"),
        "{}",
        count.content()
    );
}

#[test]
fn a_query_is_limited_in_rows_size_and_time() {
    let registry = registry();
    let arguments = json!({"query": "SELECT title FROM books", "limit": 2});
    let result = call(&registry, "sql_query", arguments);
    let rows = result.structured().expect("rows");
    assert_eq!(rows["rows"].as_array().map(Vec::len), Some(2));
    assert_eq!(rows["has_more"], true);
    let result = query(&registry, "SELECT title FROM books");
    assert_eq!(result.structured().expect("rows")["has_more"], false);

    let large = query(&registry, "SELECT randomblob(2000000000)");
    assert!(large.is_error(), "{}", large.content());
    let long = query(&registry, "SELECT hex(zeroblob(40000))");
    assert!(long.content().len() < 1000, "{}", long.content().len());

    let endless =
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n";
    let result = query(&registry, endless);
    let kind = result.error().map(tool_core::ToolError::kind);
    assert_eq!(kind, Some(ToolErrorKind::TimedOut));
    // The thread has ended as well: the next query does not wait for it.
    assert!(!query(&registry, "SELECT 1").is_error());
}

/// SQLite checks for interruption between its steps only, and a function call is one step.
#[test]
fn no_sql_function_runs_for_long() {
    let registry = registry();
    let zeros = "hex(zeroblob(49000))";
    for function in [
        format!("{zeros} LIKE '%' || substr({zeros}, 1, 48000) || '1'"),
        format!("{zeros} GLOB '*' || substr({zeros}, 1, 48000) || '1'"),
        format!("instr({zeros}, substr({zeros}, 1, 49000) || '1')"),
        format!("replace({zeros}, substr({zeros}, 1, 49000) || '1', '')"),
        format!("{zeros} LIKE '%0%0%0%0%0%0%0%0%0%0%1'"),
    ] {
        query(&registry, &format!("SELECT {function}"));
        // The next query waits for the database, within its own timeout.
        let next = query(&registry, "SELECT 1");
        assert!(!next.is_error(), "{function}: {}", next.content());
    }
    let nothing = query(&registry, "-- nothing");
    let text = nothing.content();
    assert!(text.ends_with("the query has no statement"), "{text}");
}

#[test]
fn calls_and_database_come_from_files() {
    let ran = run("toolkit_docs", &[], "");
    assert_eq!(ran.code, Some(0), "{}", ran.log);
    for part in [
        "0.125",
        "division by zero",
        r#"[["Os Maias",1888],["Effi Briest",1895]]"#,
        "the database is read-only",
    ] {
        assert!(ran.out.contains(part), "{part:?} is missing:\n{}", ran.out);
    }
    let folder = Temporary::new().expect("a folder");
    let file = folder.path().join("my.sqlite");
    let connection = Connection::open(&file).expect("a database");
    let batch =
        connection.execute_batch("CREATE TABLE cats (name); INSERT INTO cats VALUES ('Tom')");
    batch.expect("a table");
    let path = file.to_str().expect("a path that is text");
    let calls = r#"[{"tool": "sql_query", "arguments": {"query": "SELECT name FROM cats"}}]"#;
    let ran = run("toolkit_docs", &["--database", path, "--calls", "-"], calls);
    assert!(ran.out.contains(r#"[["Tom"]]"#), "{}{}", ran.out, ran.log);
}

#[test]
fn bad_input_exits_with_2() {
    let rejected = |flags: &[&str], input: &str, said| {
        assert_rejected("toolkit_docs", flags, input, said);
    };
    rejected(&["--call", "x"], "", "--calls");
    rejected(&["--calls", "no/such"], "", "can't read no/such");
    rejected(
        &["--calls", "-"],
        r#"[{"name": "echo"}]"#,
        "the calls are not valid",
    );
    rejected(&["--database", "no/such"], "", "can't open no/such");
    rejected(&["--database", "Cargo.toml"], "", "can't open Cargo.toml");
    rejected(&["--catalogue", "no/such"], "", "can't write no/such");
}

#[test]
fn output_that_is_closed_early_ends_it_quietly() {
    assert_closed_early("toolkit_docs");
}
