//! `import`: the tools of a server in a file. The server is the same program.

#![cfg(all(feature = "import", feature = "mcp"))]

mod support;

use std::path::Path;

use support::{Ran, command, desk_in};

#[test]
fn a_file_is_written_and_compared() {
    let folder = std::env::temp_dir().join(format!("tool-cli-{}-import", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("desk.tools.json");
    let program = command().get_program().to_str().unwrap().to_owned();
    let import = |flags: &[&str]| -> Ran {
        let start = ["import", "--pin", "desk.tools.json"];
        let words = [&start, flags, &["--", &program, "mcp"]].concat();
        desk_in(&folder, &words, "")
    };
    let ran = import(&["--check"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(
        ran.log.contains("desk.tools.json does not exist"),
        "{ran:?}"
    );
    assert!(!file.exists());

    let ran = import(&[]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(
        text.starts_with("{\n  \"tools\": [\n    {\n      \"name\": ")
            && text.contains("\"read_note\""),
        "{text}"
    );
    let ran = import(&["--check"]);
    assert_eq!(
        (ran.code, ran.out.starts_with("ok: ")),
        (Some(0), true),
        "{ran:?}"
    );

    // As if the server had renamed a parameter since.
    let older = text.replace("\"id\"", "\"number\"");
    assert_ne!(older, text);
    std::fs::write(&file, &older).unwrap();
    let ran = import(&["--check"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let renamed = "breaking    read_note, parameters.number: renamed to `id`";
    assert!(ran.log.contains(renamed), "{ran:?}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), older);
    let ran = import(&[]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.out.contains(renamed), "{ran:?}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), text);

    // Another file stays as it is.
    std::fs::write(&file, "{}").unwrap();
    let ran = import(&[]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "{}");
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_server_that_does_not_start_is_an_error() {
    let folder = std::env::temp_dir();
    let folder: &Path = &folder;
    let ran = desk_in(folder, &["import", "--pin", "tool-cli-none.json"], "");
    assert_eq!(ran.code, Some(2), "{ran:?}");
    let ran = desk_in(
        folder,
        &[
            "import",
            "--pin",
            "tool-cli-none.json",
            "--",
            "no-such-server",
        ],
        "",
    );
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.log.contains("no-such-server"), "{ran:?}");
    let ran = desk_in(
        folder,
        &[
            "import",
            "--pin",
            "tool-cli-none.json",
            "--url",
            "http://127.0.0.1:9",
            "--bearer",
            "NO_SUCH_VARIABLE",
        ],
        "",
    );
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.log.contains("NO_SUCH_VARIABLE"), "{ran:?}");
    let url = |url| {
        let words = ["import", "--pin", "tool-cli-none.json", "--url", url];
        desk_in(folder, &words, "")
    };
    for wrong in ["ftp://127.0.0.1", "127.0.0.1:9", "http://"] {
        let ran = url(wrong);
        assert_eq!(ran.code, Some(2), "{ran:?}");
        assert!(ran.log.contains("https:// or http://"), "{ran:?}");
    }
    // Nobody listens there.
    assert_eq!(url("http://127.0.0.1:9").code, Some(1));
}
