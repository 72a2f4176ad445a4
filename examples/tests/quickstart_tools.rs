//! The tools of the quickstart are what its lock and its catalogue say.
//!
//! After a change that is meant: `TOOL_CORE_UPDATE=1 cargo test --test quickstart_tools`.

#[path = "../quickstart/tools.rs"]
mod tools;

use tool_core::{Registry, testing};

#[test]
fn lock_and_catalogue_are_up_to_date() {
    let names = [
        "find_trains",
        "list_stations",
        "reserve_seats",
        "train_status",
    ];
    testing::check(&Registry::linked().expect("their names are unlike"))
        .expect_tools(names)
        .lock("quickstart/tools.lock.json")
        .docs("quickstart/TOOLS.md")
        .docs("quickstart/tools.html")
        .examples()
        .budget_bytes(2_000)
        .run();
}
