//! [`ResultStore`]: keeps long results, so that a model that got the start can read on.

use std::collections::{HashMap, VecDeque};
use std::error::Error;
use std::fmt::{self, Write};
use std::future::ready;
use std::hash::{BuildHasher, Hash, RandomState};
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::runtime::{BoxFuture, HAS_CLOCK};
use crate::schema::messages::floor_char_boundary;

/// The error of a [`ResultStore`]. The log has it, and no model does.
///
/// ```
/// use tool_core::registry::ResultStoreError;
///
/// let error = ResultStoreError::from("the disk is full");
/// # let _ = error;
/// ```
pub type ResultStoreError = Box<dyn Error + Send + Sync>;

/// A store of results that are too long for a model; see [`RegistryBuilder::spill`](crate::RegistryBuilder::spill).
///
/// It limits how long it keeps a result and how much it keeps, because nobody removes results one by one; see
/// [`ResultLimits`]. Stores in a folder and in SQLite are in `tool-agent`, and `tool_agent::testing::assert_results` checks
/// your own.
///
/// ```
/// use std::sync::Arc;
/// use tool_core::registry::{MemoryResults, ResultScope, ResultStore, ResultStoreError};
/// use tool_core::runtime::BoxFuture;
///
/// /// Keeps results of at most a megabyte.
/// struct Short(MemoryResults);
///
/// impl ResultStore for Short {
///     fn put(
///         &self,
///         scope: &ResultScope,
///         handle: &str,
///         text: String,
///     ) -> BoxFuture<Result<(), ResultStoreError>> {
///         if text.len() > 1 << 20 {
///             return Box::pin(async { Err("the result has more than a megabyte".into()) });
///         }
///         self.0.put(scope, handle, text)
///     }
///
///     fn read(
///         &self,
///         scope: &ResultScope,
///         handle: &str,
///     ) -> BoxFuture<Result<Option<Arc<str>>, ResultStoreError>> {
///         self.0.read(scope, handle)
///     }
///
///     fn remove(&self, scope: &ResultScope) -> BoxFuture<Result<(), ResultStoreError>> {
///         self.0.remove(scope)
///     }
/// }
/// ```
pub trait ResultStore: Send + Sync {
    /// Keeps a text under a handle that is new in its scope.
    ///
    /// # Errors
    ///
    /// Returns an error if the text can't be kept. The model then gets the start of the result alone.
    fn put(
        &self,
        scope: &ResultScope,
        handle: &str,
        text: String,
    ) -> BoxFuture<Result<(), ResultStoreError>>;

    /// Returns the text that the scope has under a handle; `None` if there is none any more, or if another scope has it.
    /// A model may have made the handle up.
    ///
    /// # Errors
    ///
    /// Returns an error if the text can't be read.
    fn read(
        &self,
        scope: &ResultScope,
        handle: &str,
    ) -> BoxFuture<Result<Option<Arc<str>>, ResultStoreError>>;

    /// Removes all texts of a scope, such as of a conversation that a user deletes.
    ///
    /// # Errors
    ///
    /// Returns an error if some of them may still exist.
    fn remove(&self, scope: &ResultScope) -> BoxFuture<Result<(), ResultStoreError>>;
}

/// Whose results a [`ResultStore`] keeps: only calls with the same scope read them. It is a context value of a call, or of
/// the registry if all its calls may read all results.
///
/// An `Agent` of `tool-agent` gives each call the scope of its run and the run's owner. A `Server` of `tool-mcp` gives it that
/// of its session and user.
///
/// ```
/// use tool_core::ToolCall;
/// use tool_core::registry::ResultScope;
///
/// let call = ToolCall::new("call_1", "read_log", "").with(ResultScope::new("chat 7 of ada"));
/// assert_eq!(call.get::<ResultScope>().unwrap().as_str(), "chat 7 of ada");
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct ResultScope(Arc<str>);

impl ResultScope {
    /// Creates a scope. Use a text that no other user can have.
    pub fn new(scope: impl Into<Arc<str>>) -> ResultScope {
        ResultScope(scope.into())
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Omits the text, which may have the id of a session.
impl fmt::Debug for ResultScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResultScope").finish_non_exhaustive()
    }
}

/// How long a [`ResultStore`] keeps a result, and how much it keeps in all scopes together. By default, a store keeps 1000
/// results and 64 MiB of text for a day.
///
/// When there is more, the oldest results go, but first those of scopes with more than their share. So no scope pushes out
/// the results of all others. With two scopes, the share is half of the limit, and with four or more it is a quarter.
///
/// ```
/// use std::time::Duration;
/// use tool_core::registry::{MemoryResults, ResultLimits};
///
/// let limits = ResultLimits::new().life(Duration::from_secs(600)).bytes(10 << 20).count(100);
/// let store = MemoryResults::new().limits(limits);
/// # let _ = store;
/// ```
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct ResultLimits {
    life: Duration,
    bytes: u64,
    count: usize,
}

impl Default for ResultLimits {
    fn default() -> ResultLimits {
        ResultLimits {
            life: Duration::from_secs(24 * 60 * 60),
            bytes: 64 << 20,
            count: 1000,
        }
    }
}

impl ResultLimits {
    /// Creates the default limits.
    pub fn new() -> ResultLimits {
        ResultLimits::default()
    }

    /// Sets how long a result is kept.
    pub fn life(mut self, life: Duration) -> ResultLimits {
        self.life = life;
        self
    }

    /// Sets the maximum size of all texts together.
    pub fn bytes(mut self, bytes: u64) -> ResultLimits {
        self.bytes = bytes;
        self
    }

    /// Sets the maximum number of results.
    pub fn count(mut self, count: usize) -> ResultLimits {
        self.count = count;
        self
    }

    /// Tells for each result whether it stays. The results are given by their scopes, ages and sizes in bytes, the newest
    /// first.
    ///
    /// ```
    /// use std::time::Duration;
    /// use tool_core::registry::ResultLimits;
    ///
    /// let limits = ResultLimits::new().bytes(100);
    /// let results = [("bob", 60), ("bob", 40), ("ada", 10)];
    /// let results = results.map(|(scope, bytes)| (scope, Duration::ZERO, bytes));
    /// assert_eq!(limits.kept(&results), [true, false, true]);
    /// ```
    pub fn kept<S: Eq + Hash>(&self, results: &[(S, Duration, u64)]) -> Vec<bool> {
        let stays = results.iter().map(|(_, age, _)| *age < self.life);
        let mut stays: Vec<bool> = stays.collect();
        let mut all = Held::default();
        let mut scopes: HashMap<&S, Held> = HashMap::new();
        for ((scope, _, bytes), stays) in results.iter().zip(&stays) {
            if *stays {
                all.add(*bytes);
                scopes.entry(scope).or_default().add(*bytes);
            }
        }
        let shares = scopes.len().min(SHARES);
        for is_fair in [true, false] {
            for ((scope, _, bytes), stays) in results.iter().zip(&mut stays).rev() {
                if *stays
                    && all.exceeds(self, 1)
                    && let Some(held) = scopes.get_mut(scope)
                    && (!is_fair || held.exceeds(self, shares))
                {
                    *stays = false;
                    all.remove(*bytes);
                    held.remove(*bytes);
                }
            }
        }
        stays
    }

    /// Checks that the newest result is among those that [stay](ResultLimits::kept).
    ///
    /// # Errors
    ///
    /// Returns an error if the result alone has more than the share of its scope, and other scopes need the rest.
    pub fn check_newest(&self, kept: &[bool]) -> Result<(), ResultStoreError> {
        match kept.first() {
            Some(false) => {
                Err("the store has no room for the result beside those of others".into())
            }
            _ => Ok(()),
        }
    }

    /// Checks that a store may keep a result of this size.
    ///
    /// # Errors
    ///
    /// Returns an error if the result alone has more bytes than the store may keep.
    pub fn check(&self, bytes: usize) -> Result<(), ResultStoreError> {
        let most = self.bytes;
        if bytes as u64 <= most {
            return Ok(());
        }
        Err(format!("the store may keep {most} bytes and the result has {bytes}").into())
    }
}

/// The smallest share of a scope is the limit divided by this. A larger number leaves a scope less while others need the
/// rest, and a smaller one lets fewer scopes fill a store.
const SHARES: usize = 4;

/// What a store holds, in all scopes or in one.
#[derive(Default)]
struct Held {
    count: usize,
    bytes: u64,
}

impl Held {
    fn add(&mut self, bytes: u64) {
        self.count += 1;
        self.bytes = self.bytes.saturating_add(bytes);
    }

    fn remove(&mut self, bytes: u64) {
        self.count -= 1;
        self.bytes = self.bytes.saturating_sub(bytes);
    }

    /// Returns `true` if this is more than one of so many parts of the limits.
    fn exceeds(&self, limits: &ResultLimits, parts: usize) -> bool {
        self.count.saturating_mul(parts) > limits.count
            || self.bytes.saturating_mul(parts as u64) > limits.bytes
    }
}

/// A [`ResultStore`] in memory, for results that may end with the process. Clones share the results.
///
/// ```
/// use tool_core::registry::{MemoryResults, ResultScope};
/// use tool_core::{Registry, ToolCall, tool, tools};
///
/// /// Reads the log.
/// #[tool]
/// fn read_log() -> String {
///     "started\n".repeat(100)
/// }
///
/// let registry = Registry::builder()
///     .tools(tools![read_log])
///     .spill(MemoryResults::new(), 80)
///     .build()?;
/// let call = ToolCall::new("call_1", "read_log", "").with(ResultScope::new("chat 7"));
/// let result = registry.call_blocking(call);
/// assert!(result.content().starts_with("started\nstarted\n"));
/// assert!(result.content().contains("[bytes 0 to 80 of 800, lines 1 to 10 of 100; "));
/// # Ok::<(), tool_core::RegistryError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct MemoryResults {
    limits: ResultLimits,
    /// The newest first.
    results: Arc<Mutex<VecDeque<Kept>>>,
}

struct Kept {
    scope: ResultScope,
    handle: String,
    text: Arc<str>,
    /// `None` without a clock.
    since: Option<Instant>,
}

impl fmt::Debug for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kept")
            .field("bytes", &self.text.len())
            .finish_non_exhaustive()
    }
}

impl MemoryResults {
    /// Creates an empty store.
    pub fn new() -> MemoryResults {
        MemoryResults::default()
    }

    /// Sets how long results are kept, and how many.
    pub fn limits(mut self, limits: ResultLimits) -> MemoryResults {
        self.limits = limits;
        self
    }

    fn results(&self) -> MutexGuard<'_, VecDeque<Kept>> {
        self.results.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Removes the results that are beyond the limits. Returns which were kept, the newest first.
    fn remove_old(&self, results: &mut VecDeque<Kept>) -> Vec<bool> {
        let sizes = results.iter().map(|kept| {
            let age = kept.since.map(|since| since.elapsed());
            let bytes = kept.text.len() as u64;
            (&kept.scope, age.unwrap_or_default(), bytes)
        });
        let kept = self.limits.kept(&sizes.collect::<Vec<_>>());
        let mut stays = kept.iter();
        results.retain(|_| stays.next() == Some(&true));
        kept
    }
}

impl ResultStore for MemoryResults {
    fn put(
        &self,
        scope: &ResultScope,
        handle: &str,
        text: String,
    ) -> BoxFuture<Result<(), ResultStoreError>> {
        let put = self.limits.check(text.len()).and_then(|()| {
            let new = Kept {
                scope: scope.clone(),
                handle: handle.to_owned(),
                text: text.into(),
                since: HAS_CLOCK.then(Instant::now),
            };
            let mut results = self.results();
            results.push_front(new);
            self.limits.check_newest(&self.remove_old(&mut results))
        });
        Box::pin(ready(put))
    }

    fn read(
        &self,
        scope: &ResultScope,
        handle: &str,
    ) -> BoxFuture<Result<Option<Arc<str>>, ResultStoreError>> {
        let is_it = |kept: &&Kept| kept.scope == *scope && kept.handle == handle;
        let mut results = self.results();
        self.remove_old(&mut results);
        let found = results.iter().find(is_it);
        let text = found.map(|kept| Arc::clone(&kept.text));
        Box::pin(ready(Ok(text)))
    }

    fn remove(&self, scope: &ResultScope) -> BoxFuture<Result<(), ResultStoreError>> {
        self.results().retain(|kept| kept.scope != *scope);
        Box::pin(ready(Ok(())))
    }
}

/// The store of a registry. It is one of its context values, so that the tool that reads on finds it.
pub(crate) struct Spill {
    pub(crate) store: Arc<dyn ResultStore>,
    /// The maximum length of a text for the model in bytes.
    pub(crate) limit: usize,
}

/// The most bytes that a page adds to its text.
pub(crate) const NOTE: usize = 512;

/// Returns a new handle. Nobody can guess it, and its start tells whether the result has secrets.
pub(crate) fn new_handle(is_secret: bool) -> String {
    let number = RandomState::new().hash_one(0);
    let kind = if is_secret { SECRET } else { 'r' };
    format!("{kind}{number:016x}")
}

const SECRET: char = 's';

/// Returns `true` if the result of a handle has secrets.
pub(crate) fn is_secret(handle: &str) -> bool {
    handle.starts_with(SECRET)
}

/// A part of a kept text.
pub(crate) struct Page {
    pub(crate) bytes: Range<usize>,
    /// Tells the model which part it has, and how to read on.
    pub(crate) note: String,
}

impl Page {
    /// Returns the part of a text from a byte on, with at most so many bytes and lines. It ends with a line if one ends near.
    pub(crate) fn of(
        text: &str,
        start: usize,
        lines: Option<usize>,
        limit: usize,
        handle: &str,
    ) -> Page {
        let rest = &text[start..];
        let mut length = floor_char_boundary(rest, limit);
        if length < rest.len() {
            let near = rest[..length].rfind('\n').map_or(0, |at| at + 1);
            if near > length - length / 4 {
                length = near;
            }
            // A model that reads on gets on.
            length = length.max(rest.chars().next().map_or(0, char::len_utf8));
        }
        if let Some(lines) = lines {
            let mut ends = rest[..length].match_indices('\n');
            if let Some((at, _)) = ends.nth(lines.saturating_sub(1)) {
                length = at + 1;
            }
        }
        let end = start + length;
        let first = line_of(text, start);
        let last = line_of(text, end.saturating_sub(1).max(start));
        let mut note = format!(
            "\n[bytes {start} to {end} of {}, lines {first} to {last} of {}; ",
            text.len(),
            line_count(text)
        );
        let _ = if end == text.len() {
            write!(note, "this is the end]")
        } else {
            write!(
                note,
                r#"read on by `read_result` with {{"handle":"{handle}","byte":{end}}}, or with "line" or "search"]"#
            )
        };
        Page {
            bytes: start..end,
            note,
        }
    }
}

fn line_ends(text: &[u8]) -> usize {
    memchr::memchr_iter(b'\n', text).count()
}

pub(crate) fn line_count(text: &str) -> usize {
    line_ends(text.as_bytes()) + usize::from(!text.ends_with('\n'))
}

/// Returns the number of the line with a byte, from 1.
fn line_of(text: &str, byte: usize) -> usize {
    1 + line_ends(&text.as_bytes()[..byte])
}

/// Returns the byte at which a line starts, if there is one with this number.
pub(crate) fn line_start(text: &str, line: usize) -> Option<usize> {
    let ends = text.match_indices('\n').map(|(at, _)| at + 1);
    let mut starts = std::iter::once(0).chain(ends);
    starts
        .nth(line.checked_sub(1)?)
        .filter(|start| *start < text.len())
}

/// The most places that one search shows.
const PLACES: usize = 20;

/// The most bytes of a line that a search shows before and after the place.
const AROUND: usize = 100;

/// Lists the places of a text, from a byte on, in at most so many bytes.
pub(crate) fn search(text: &str, wanted: &str, from: usize, limit: usize) -> String {
    let mut out = String::new();
    let (mut shown, mut found, mut next) = (0, 0, None);
    let (mut line, mut counted) = (line_of(text, from), from);
    for (at, _) in text[from..].match_indices(wanted) {
        let at = from + at;
        found += 1;
        if next.is_some() {
            continue;
        }
        line += line_ends(&text.as_bytes()[counted..at]);
        counted = at;
        let around = around(text, at..at + wanted.len());
        let place = format!("line {line}, byte {at}: {around}\n");
        if shown == PLACES || shown > 0 && out.len() + place.len() > limit {
            next = Some(at);
            continue;
        }
        out.push_str(&place);
        shown += 1;
    }
    let _ = match next {
        Some(next) => write!(
            out,
            "[places: {shown} of {found}; search on from byte {next}]"
        ),
        None => write!(out, "[places: {found}, from byte {from} to the end]"),
    };
    out
}

/// Returns the line around a place, or a part of it.
fn around(text: &str, place: Range<usize>) -> String {
    let start = text[..place.start].rfind('\n').map_or(0, |at| at + 1);
    let end = text[place.end..].find('\n');
    let end = end.map_or(text.len(), |at| place.end + at);
    let first = start.max(floor_char_boundary(
        text,
        place.start.saturating_sub(AROUND),
    ));
    let last = end.min(floor_char_boundary(text, place.end + AROUND));
    let before = if first > start { "…" } else { "" };
    let after = if last < end { "…" } else { "" };
    [before, &text[first..last], after].concat()
}
