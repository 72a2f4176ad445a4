//! Methods as tools.

// Every form that a method can have.
#![allow(
    clippy::mixed_attributes_style,
    clippy::needless_arbitrary_self_type,
    clippy::needless_lifetimes,
    clippy::unused_async,
    clippy::unused_self
)]

use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, Mutex};

use serde::{Deserialize, Serialize};
use tool_core::{CallContext, DecodeOwned, Registry, ToolCall, ToolErrorKind, ToolType, toolset};

/// A room.
#[derive(Clone, Debug, Deserialize, Serialize, ToolType)]
struct Room {
    /// What people call it.
    name: String,
}

#[toolset]
impl Room {
    const WORDS: usize = 2;

    /// Says whether two rooms are one.
    #[tool(read_only)]
    fn is(&self, other: &Self) -> bool {
        self.name == other.name
    }

    /// Joins rooms.
    #[tool]
    fn join(&self, others: Vec<Self>, names: [String; Self::WORDS]) -> Self {
        let mut name = self.name.clone();
        for other in others {
            name += &other.name;
        }
        name += &names.concat();
        Self { name }
    }

    /// Makes a room, or none.
    #[tool]
    async fn make(name: Option<&str>) -> Result<Self, String> {
        match name {
            Some(name) => Ok(Self { name: name.into() }),
            None => Err("a room needs a name".into()),
        }
    }
}

#[derive(Default)]
struct Heating {
    degrees: AtomicI32,
    log: Mutex<Vec<String>>,
}

/// Docs of the block are not sent to the model.
#[toolset]
#[allow(clippy::missing_const_for_fn)]
impl Heating {
    #![allow(clippy::needless_pass_by_value)]

    /// Sets the temperature.
    ///
    /// # Arguments
    /// * `degrees` - In Celsius.
    ///
    /// # Returns
    /// The temperature before.
    #[tool(name = "set-degrees", idempotent, title = "Heat")]
    #[must_use]
    fn set<'a>(&'a self, #[param(range = 5..=30)] degrees: i32) -> i32 {
        self.note("set");
        self.degrees.swap(degrees, Ordering::Relaxed)
    }

    /// The temperature.
    #[tool]
    fn get(self: &Self) -> i32 {
        self.note("get");
        self.degrees.load(Ordering::Relaxed)
    }

    /// Waits until the temperature is reached.
    #[tool]
    #[deprecated]
    async fn wait(&self) -> String {
        std::future::ready(()).await;
        self.note("wait");
        format!("{} degrees", self.degrees.load(Ordering::Relaxed))
    }

    /// Breaks.
    #[tool]
    fn smash(&self) {
        self.note("smash");
        panic!("a secret");
    }

    /// There or not.
    #[cfg(any())]
    #[tool(name = "which")]
    fn which(&self) -> Nothing {}

    /// There or not.
    #[cfg(not(any()))]
    #[tool(name = "which")]
    fn which(&self, #[cfg(any())] missing: Nothing) -> &'static str {
        "the second"
    }

    fn note(&self, what: &str) {
        self.log.lock().expect("no panic").push(what.into());
    }
}

fn call(tools: &Registry, name: &str, arguments: &str) -> String {
    let result = tools.call_blocking(ToolCall::new("id", name, arguments));
    result.content().to_owned()
}

#[test]
fn every_instance_has_its_own_tools() {
    let hall = Arc::new(Heating::default());
    let tools = Registry::builder()
        .toolset("kitchen_", Heating::default())
        .shared_toolset("hall_", Arc::clone(&hall))
        .build()
        .expect("unique names");
    assert_eq!(
        call(&tools, "kitchen_set-degrees", r#"{"degrees":20}"#),
        "0"
    );
    assert_eq!(
        call(&tools, "kitchen_set-degrees", r#"{"degrees":22}"#),
        "20"
    );
    hall.degrees.store(16, Ordering::Relaxed);
    assert_eq!(call(&tools, "kitchen_get", ""), "22");
    assert_eq!(call(&tools, "hall_get", ""), "16");
    assert_eq!(call(&tools, "hall_wait", ""), "16 degrees");
    assert_eq!(call(&tools, "hall_which", ""), "the second");
    assert_eq!(*hall.log.lock().expect("no panic"), ["get", "wait"]);
    assert_eq!(tools.len(), 10);
}

#[test]
fn two_instances_with_one_prefix_are_reported_with_a_remedy() {
    let twice = Registry::builder()
        .toolset("hall_", Heating::default())
        .toolset("hall_", Heating::default());
    let error = twice.build().expect_err("one name twice").to_string();
    assert!(error.contains("2 tools are named `hall_get`:"), "{error}");
    assert!(
        error.contains("give each toolset its own prefix"),
        "{error}"
    );
}

#[test]
fn a_method_is_described_like_a_function() {
    let tools = Registry::builder()
        .toolset("", Heating::default())
        .build()
        .expect("unique names");
    let tool = tools.get("set-degrees").expect("it is there");
    assert_eq!(tool.description, "Sets the temperature.");
    assert_eq!(tool.returns(), Some("The temperature before."));
    assert_eq!(tool.title(), Some("Heat"));
    assert_eq!(tool.annotations.idempotent, Some(true));
    assert_eq!(
        tool.parameters_json(),
        r#"{"type":"object","properties":{"degrees":{"type":"integer","minimum":5,"maximum":30,"description":"In Celsius."}},"required":["degrees"],"additionalProperties":false}"#
    );
    // Each tool has the place of its attribute.
    let line = |name: &str| {
        let place = tools.get(name).expect("it is there").location;
        let source = include_str!("toolsets.rs");
        source.lines().nth(place.line as usize - 1).expect("a line")
    };
    assert_eq!(
        line("set-degrees").trim(),
        r#"#[tool(name = "set-degrees", idempotent, title = "Heat")]"#
    );
    assert_eq!(line("get").trim(), "#[tool]");
}

#[cfg_attr(panic = "abort", ignore = "a tool or a test panics")]
#[test]
fn failures_of_a_method_are_reported_as_of_any_tool() {
    let heating = Arc::new(Heating::default());
    let tools = Registry::builder()
        .shared_toolset("home_", Arc::clone(&heating))
        .build()
        .expect("unique names");
    let kind = |name: &str, arguments: &str| {
        let result = tools.call_blocking(ToolCall::new("id", name, arguments));
        let error = result.error().expect("it failed");
        assert!(!error.message().contains("secret"), "{}", error.message());
        error.kind()
    };
    let refused = kind("home_set-degrees", r#"{"degrees":31,"self":1}"#);
    assert_eq!(refused, ToolErrorKind::InvalidArguments);
    assert!(heating.log.lock().expect("no panic").is_empty());
    assert_eq!(kind("home_smash", ""), ToolErrorKind::Panicked);
    assert_eq!(kind("set-degrees", ""), ToolErrorKind::UnknownTool);
}

#[test]
fn self_in_a_signature_is_the_type() {
    let tools = Registry::builder()
        .toolset(
            "",
            Room {
                name: "hall".into(),
            },
        )
        .build()
        .expect("unique names");
    assert_eq!(call(&tools, "is", r#"{"other":{"name":"hall"}}"#), "true");
    let joined = r#"{"others":[{"name":"way"}],"names":["a","b"]}"#;
    assert_eq!(call(&tools, "join", joined), r#"{"name":"hallwayab"}"#);
    assert_eq!(
        call(&tools, "make", r#"{"name":"attic"}"#),
        r#"{"name":"attic"}"#
    );
    assert!(call(&tools, "make", "").contains("a room needs a name"));
    let make = tools.get("make").expect("it is there");
    assert!(
        make.output_json()
            .expect("a room")
            .contains("What people call it.")
    );
}

struct User(&'static str);

#[toolset]
impl User {
    /// Greets, for somebody.
    #[tool(read_only)]
    async fn greet(&self, #[param(context)] other: &Self, times: u8, call: &CallContext) -> String {
        let name = call.tool_name();
        format!("{name}: {} greets {} {times} times", self.0, other.0)
    }
}

#[test]
fn context_values_are_passed_beside_self() {
    let tools = || Registry::builder().toolset("a_", User("Ada"));
    let error = tools().build().expect_err("nobody gave a `User`");
    assert!(error.to_string().contains("a_greet"), "{error}");
    let tools = tools().context(User("Ben")).build().expect("one tool");
    let told = call(&tools, "a_greet", r#"{"times":2}"#);
    assert_eq!(told, "a_greet: Ada greets Ben 2 times");
    assert!(call(&tools, "a_greet", r#"{"times":2,"other":"x"}"#).contains("other: unknown"));
}

#[test]
fn a_toolset_can_be_defined_anywhere() {
    mod inner {
        pub(super) struct Generic<T, const N: usize>(pub T);

        #[tool_core::toolset]
        impl Generic<Vec<u8>, { 1 + 2 }> {
            /// Its length.
            #[tool_core::tool]
            pub(super) fn length(&self) -> usize {
                self.0.len()
            }
        }
    }

    struct Local(u8);

    #[toolset]
    impl Local {
        /// Its number.
        #[tool]
        async fn number(&self, plus: u8) -> u8 {
            self.0 + plus
        }
    }

    macro_rules! counter {
        ($name:ident, $ty:ty, $doc:literal) => {
            struct $name($ty);

            #[tool_core::toolset]
            impl $name {
                #[doc = $doc]
                #[tool]
                fn count(&self, more: $ty) -> $ty {
                    self.0 + more
                }
            }
        };
    }
    counter!(Counter, u32, "Counts.");

    let tools = Registry::builder()
        .toolset("", inner::Generic(vec![1, 2]))
        .toolset("", Local(1))
        .toolset("", Counter(2))
        .build()
        .expect("unique names");
    assert_eq!(call(&tools, "length", ""), "2");
    assert_eq!(call(&tools, "number", r#"{"plus":2}"#), "3");
    assert_eq!(call(&tools, "count", r#"{"more":3}"#), "5");
}

#[test]
fn methods_are_never_linked() {
    assert!(Registry::linked().expect("unique names").is_empty());
}

trait Backend {
    type Key: ToolType + DecodeOwned + Serialize + Copy + Send + Sync + 'static;
    const DOC: &'static str;

    fn get(&self, key: Self::Key) -> impl Future<Output = String> + Send;
}

struct Numbers;

impl Backend for Numbers {
    type Key = u8;
    const DOC: &'static str = "Finds a number.";

    async fn get(&self, key: u8) -> String {
        format!("number {key}")
    }
}

struct Words(Arc<str>);

impl Backend for Words {
    type Key = Room2;
    const DOC: &'static str = "Finds a word.";

    async fn get(&self, key: Room2) -> String {
        format!("{}: {key:?}", self.0)
    }
}

#[derive(Clone, Copy, Debug, Deserialize, Serialize, ToolType)]
enum Room2 {
    Hall,
    Attic,
}

/// A store with any backend.
struct Store<T, const N: usize> {
    backend: T,
}

#[toolset(blocks = 3)]
impl<T, const N: usize> Store<T, N>
where
    T: Backend + Send + Sync + 'static,
{
    #[tool(description = T::DOC)]
    async fn find(&self, #[param(description = "The key.")] key: T::Key) -> Result<String, String> {
        Ok(self.backend.get(key).await)
    }

    /// Finds several.
    #[tool]
    async fn find_all(
        &self,
        #[param(length = ..=2)] keys: Vec<T::Key>,
        #[param(range = 1..=3, default = 1)] times: u8,
        call: &CallContext,
    ) -> Vec<T::Key> {
        let _ = (call.tool_name(), times);
        keys
    }

    /// Counts.
    #[tool]
    fn count(keys: Vec<u8>) -> usize {
        keys.len() * N
    }
}

#[toolset(block = 2)]
impl<T: Backend + Send + Sync + 'static, const N: usize> Store<T, N> {
    /// In another block.
    #[tool]
    fn size(&self) -> usize {
        N
    }
}

trait Clock {
    fn now(&self, zone: Option<i8>) -> String;
    fn zone() -> &'static str;
}

#[toolset(block = 3)]
impl<T: Backend + Send + Sync + 'static, const N: usize> Clock for Store<T, N> {
    /// The time.
    #[tool(read_only)]
    fn now(&self, #[param(range = -12..=12)] zone: Option<i8>) -> String {
        format!("noon {zone:?}")
    }

    /// The zone.
    #[tool]
    fn zone() -> &'static str {
        "UTC"
    }
}

#[test]
fn a_generic_type_has_tools_for_each_of_its_types() {
    let words = Words("words".into());
    let tools = Registry::builder()
        .toolset("n_", Store::<_, 2> { backend: Numbers })
        .toolset("w_", Store::<_, 3> { backend: words })
        .build()
        .expect("unique names");
    assert_eq!(call(&tools, "n_find", r#"{"key":7}"#), "number 7");
    assert_eq!(call(&tools, "w_find", r#"{"key":"Attic"}"#), "words: Attic");
    assert!(call(&tools, "w_find", r#"{"key":7}"#).contains("key"));
    assert_eq!(call(&tools, "n_find_all", r#"{"keys":[1,2]}"#), "[1,2]");
    assert!(call(&tools, "n_find_all", r#"{"keys":[1,2,3]}"#).contains("keys"));
    assert_eq!(call(&tools, "n_count", r#"{"keys":[1,2]}"#), "4");
    assert_eq!(call(&tools, "w_count", r#"{"keys":[1,2,3]}"#), "9");
    let find = tools.get("w_find").expect("a tool");
    assert_eq!(find.description, "Finds a word.");
    let key = r#""key":{"type":"string","enum":["Hall","Attic"],"description":"The key."}"#;
    assert!(
        find.parameters_json().contains(key),
        "{}",
        find.parameters_json()
    );
    let all = tools.get("n_find_all").expect("a tool");
    let times = r#""times":{"type":"integer","minimum":1,"maximum":3,"default":1}"#;
    assert!(
        all.parameters_json().contains(times),
        "{}",
        all.parameters_json()
    );
    let _ = Room2::Hall;
}

#[test]
fn further_blocks_and_trait_implementations_are_registered_with_the_first() {
    let tools = Registry::builder()
        .toolset("", Store::<_, 2> { backend: Numbers })
        .build()
        .expect("unique names");
    assert_eq!(tools.len(), 6);
    assert_eq!(call(&tools, "size", ""), "2");
    assert_eq!(call(&tools, "now", r#"{"zone":-3}"#), "noon Some(-3)");
    assert!(call(&tools, "now", r#"{"zone":-30}"#).contains("zone"));
    assert_eq!(call(&tools, "zone", ""), "UTC");
}

struct Lamp;

/// The trait is the only block.
#[toolset]
impl Iterator for Lamp {
    type Item = u8;

    fn next(&mut self) -> Option<u8> {
        None
    }

    /// Estimates.
    #[tool]
    fn size_hint(&self) -> (usize, Option<usize>) {
        (0, Some(1))
    }
}

#[test]
fn a_trait_implementation_can_be_a_toolset() {
    let tools = Registry::builder()
        .toolset("", Lamp)
        .build()
        .expect("one tool");
    assert_eq!(call(&tools, "size_hint", ""), "[0,1]");
}

#[test]
fn invalid_names_are_escaped_in_errors() {
    let prefix = "a\u{1b}[31m\n  `forged`, src/lib.rs:1\u{202e}";
    let twice = Registry::builder()
        .toolset(prefix, Lamp)
        .toolset(prefix, Lamp);
    let error = twice.build().expect_err("an invalid name").to_string();
    assert!(
        error.contains("2 tools are named `a\\u{1b}[31m\\n"),
        "{error}"
    );
    assert!(
        error.contains("not valid for every provider:\n  `a\\u{1b}"),
        "{error}"
    );
    assert!(!error.contains(['\u{1b}', '\u{202e}']), "{error}");
    assert!(!error.contains("\n  `forged`"), "{error}");
}
