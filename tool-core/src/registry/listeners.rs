//! [`Listeners`]: calls closures when the tools of a registry change.

use std::cmp::Ordering;
use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::snapshot::Snapshot;
use crate::call::boundary::catch;
use crate::tool::ToolEntry;

/// A change of a registry's tools, passed to [listeners](crate::Registry::on_change). All lists are
/// sorted by name.
///
/// ```
/// use tool_core::{Registry, tool, tools};
///
/// /// Rolls a die.
/// #[tool]
/// fn roll_die() -> u8 {
///     4
/// }
///
/// let registry = Registry::new();
/// registry
///     .on_change(|_, change| {
///         for tool in &change.added {
///             println!("new: {}", tool.name);
///         }
///         for (_, tool) in &change.replaced {
///             println!("changed: {}", tool.name);
///         }
///         for tool in &change.removed {
///             println!("gone: {}", tool.name);
///         }
///     })
///     .keep();
/// registry.add(tools![roll_die])?;
/// # Ok::<(), tool_core::RegistryError>(())
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct RegistryChange {
    /// The tools that were added.
    pub added: Vec<ToolEntry>,
    /// The tools that were replaced: the old and the new one.
    pub replaced: Vec<(ToolEntry, ToolEntry)>,
    /// The tools that were removed.
    pub removed: Vec<ToolEntry>,
}

impl RegistryChange {
    /// Compares two lists, each sorted by name.
    fn between(old: &[ToolEntry], new: &[ToolEntry]) -> RegistryChange {
        let mut change = RegistryChange::default();
        let (mut old, mut new) = (old.iter().peekable(), new.iter().peekable());
        loop {
            let order = match (old.peek(), new.peek()) {
                (Some(old), Some(new)) => old.name.cmp(&new.name),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (None, None) => return change,
            };
            match order {
                Ordering::Less => change.removed.extend(old.next().cloned()),
                Ordering::Greater => change.added.extend(new.next().cloned()),
                Ordering::Equal => {
                    let pair = old.next().cloned().zip(new.next().cloned());
                    let pair = pair.filter(|(old, new)| !old.is_same(new));
                    change.replaced.extend(pair);
                }
            }
        }
    }

    fn is_empty(&self) -> bool {
        self.added.is_empty() && self.replaced.is_empty() && self.removed.is_empty()
    }
}

type Listener<R> = Arc<dyn Fn(&R, &RegistryChange) + Send + Sync>;

/// The listeners of a registry of type `R`, and the changes that they have yet to be told.
#[derive(Default)]
pub(super) struct Listeners<R>(Mutex<State<R>>);

#[derive(Default)]
struct State<R> {
    next_key: u64,
    /// In the order of registration.
    listeners: BTreeMap<u64, Listener<R>>,
    queue: VecDeque<Event>,
    /// `true` while a thread calls listeners. It then also delivers the changes of other threads and of the
    /// listeners: in order, without a lock, and without recursion.
    is_delivering: bool,
}

struct Event {
    change: RegistryChange,
    /// The end of the keys of the listeners that were registered before the change.
    end: u64,
}

impl<R> Listeners<R> {
    fn lock(&self) -> MutexGuard<'_, State<R>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.lock().listeners.is_empty()
    }

    /// Adds a listener and returns its key.
    pub(super) fn add(&self, listener: Listener<R>) -> u64 {
        let mut state = self.lock();
        let key = state.next_key;
        state.next_key += 1;
        state.listeners.insert(key, listener);
        key
    }

    pub(super) fn remove(&self, key: u64) {
        let listener = self.lock().listeners.remove(&key);
        // Outside the lock, because dropping the closure may run any code.
        let _ = catch(|| drop(listener));
    }

    /// Queues a change, while the registry is locked.
    pub(super) fn queue(&self, old: &Snapshot, new: &Snapshot) {
        let mut state = self.lock();
        if state.listeners.is_empty() {
            return;
        }
        let change = RegistryChange::between(&old.unshared(new), &new.unshared(old));
        if !change.is_empty() {
            let end = state.next_key;
            state.queue.push_back(Event { change, end });
        }
    }

    /// Calls the listeners with all queued changes, unless a thread already does.
    pub(super) fn deliver(&self, registry: &R) {
        let mut state = self.lock();
        if state.is_delivering {
            return;
        }
        while let Some(event) = state.queue.pop_front() {
            state.is_delivering = true;
            let keys: Vec<_> = state
                .listeners
                .range(..event.end)
                .map(|(&key, _)| key)
                .collect();
            drop(state);
            for key in keys {
                // An earlier listener may have removed this one.
                let listener = self.lock().listeners.get(&key).cloned();
                let _ = catch(|| {
                    if let Some(listener) = listener {
                        listener(registry, &event.change);
                    }
                });
            }
            let _ = catch(|| drop(event));
            state = self.lock();
        }
        state.is_delivering = false;
    }
}

/// A listener of a registry, returned by [`Registry::on_change`](crate::Registry::on_change).
/// Dropping it removes the listener.
///
/// ```
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicU32, Ordering};
/// use tool_core::{Registry, tool, tools};
///
/// /// Rolls a die.
/// #[tool]
/// fn roll_die() -> u8 {
///     4
/// }
///
/// let registry = Registry::new();
/// let changes = Arc::new(AtomicU32::new(0));
/// let counter = changes.clone();
/// let listener = registry.on_change(move |_, _| {
///     counter.fetch_add(1, Ordering::Relaxed);
/// });
/// registry.add(tools![roll_die])?;
/// drop(listener);
/// registry.remove("roll_die")?;
/// assert_eq!(changes.load(Ordering::Relaxed), 1);
/// # Ok::<(), tool_core::RegistryError>(())
/// ```
#[must_use = "dropping it removes the listener; call `keep` to keep it"]
pub struct ChangeListener {
    /// `None` once the listener is to be kept.
    remove: Option<Box<dyn FnOnce() + Send + Sync>>,
}

impl ChangeListener {
    pub(super) fn new(remove: impl FnOnce() + Send + Sync + 'static) -> ChangeListener {
        ChangeListener {
            remove: Some(Box::new(remove)),
        }
    }

    /// Keeps the listener as long as the registry.
    pub fn keep(mut self) {
        self.remove = None;
    }
}

impl Drop for ChangeListener {
    fn drop(&mut self) {
        if let Some(remove) = self.remove.take() {
            remove();
        }
    }
}

impl fmt::Debug for ChangeListener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChangeListener").finish_non_exhaustive()
    }
}
