//! The lock file and the catalogue of the quickstart are up to date.
//!
//! After an intended change: `TOOL_CORE_UPDATE=1 cargo test --test quickstart_tools`.

#[path = "../quickstart/tools.rs"]
mod tools;

use tool_core::Registry;
use tool_docs::testing;

#[test]
fn lock_and_catalogue_are_up_to_date() {
    let names = [
        "find_trains",
        "list_stations",
        "reserve_seats",
        "train_status",
    ];
    testing::check(&Registry::linked().expect("unique names"))
        .expect_tools(names)
        .lock("quickstart/tools.lock.json")
        .docs("quickstart/TOOLS.md")
        .examples()
        .budget_bytes(2_000)
        .run();
}
