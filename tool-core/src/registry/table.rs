//! [`Table`]: the tools of a registry by name.

use std::hash::BuildHasher;
use std::sync::Arc;

use super::name_hash::NameHash;
use crate::tool::ToolEntry;

/// Tools by name. Clones share their shards, so that a change of one tool among thousands copies one shard
/// and the list of shards.
#[derive(Clone)]
pub(super) struct Table {
    hash: NameHash,
    /// A power of two of them. Each has the tools whose hashes start with the bits of its index.
    shards: Vec<Shard>,
    len: usize,
}

/// A hash table with linear probing. Its length is a power of two, and half of it is empty at least.
type Shard = Arc<[Option<Slot>]>;

#[derive(Clone)]
struct Slot {
    hash: u64,
    tool: ToolEntry,
}

/// Shards are split when they have more tools than this on average.
const SHARD: usize = 64;

impl Default for Table {
    fn default() -> Table {
        Table::new([].into_iter())
    }
}

impl Table {
    /// Creates a table of tools with distinct names.
    pub(super) fn new<'t>(tools: impl ExactSizeIterator<Item = &'t ToolEntry>) -> Table {
        let hash = NameHash::default();
        let len = tools.len();
        let slots = tools.map(|tool| Slot {
            hash: hash.hash_one(&*tool.name),
            tool: tool.clone(),
        });
        Table {
            hash,
            shards: shards(slots, len.div_ceil(SHARD).next_power_of_two()),
            len,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Returns the tools, in no particular order.
    pub(super) fn iter(&self) -> impl Iterator<Item = &ToolEntry> {
        self.slots().map(|slot| &slot.tool)
    }

    fn slots(&self) -> impl Iterator<Item = &Slot> {
        self.shards.iter().flat_map(|shard| shard.iter().flatten())
    }

    /// Returns the tools of the shards that the other table does not share, in no particular order.
    pub(super) fn unshared(&self, other: &Table) -> impl Iterator<Item = &ToolEntry> {
        let is_comparable = self.shards.len() == other.shards.len();
        let shards = self.shards.iter().enumerate();
        let shards = shards.filter(move |(index, shard)| {
            !is_comparable || !Arc::ptr_eq(shard, &other.shards[*index])
        });
        let slots = shards.flat_map(|(_, shard)| shard.iter().flatten());
        slots.map(|slot| &slot.tool)
    }

    #[inline]
    pub(super) fn get(&self, name: &str) -> Option<&ToolEntry> {
        let hash = self.hash.hash_one(name);
        let shard = &self.shards[shard_of(hash, self.shards.len())];
        find(shard, hash, name).ok().map(|(_, tool)| tool)
    }

    /// Adds a tool, unless there is one with its name.
    pub(super) fn insert(&mut self, tool: ToolEntry) -> Result<(), ToolEntry> {
        let hash = self.hash.hash_one(&*tool.name);
        let index = shard_of(hash, self.shards.len());
        let shard = &mut self.shards[index];
        if find(shard, hash, &tool.name).is_ok() {
            return Err(tool);
        }
        let used = shard.iter().flatten().count() + 1;
        let mut new = if capacity(used) > shard.len() {
            copy(shard.iter().flatten(), used)
        } else {
            shard.iter().cloned().collect()
        };
        put(&mut new, Slot { hash, tool });
        *shard = new;
        self.len += 1;
        if self.len > self.shards.len() * SHARD {
            self.shards = shards(self.slots().cloned(), self.shards.len() * 2);
        }
        Ok(())
    }

    /// Removes the tool with this name.
    pub(super) fn remove(&mut self, name: &str) -> Option<ToolEntry> {
        let hash = self.hash.hash_one(name);
        let index = shard_of(hash, self.shards.len());
        let shard = &mut self.shards[index];
        let (at, removed) = find(shard, hash, name).ok()?;
        let removed = removed.clone();
        let kept = shard[..at].iter().chain(&shard[at + 1..]).flatten();
        *shard = copy(kept.clone(), kept.count());
        self.len -= 1;
        Some(removed)
    }
}

/// Distributes slots to shards.
fn shards(slots: impl Iterator<Item = Slot>, count: usize) -> Vec<Shard> {
    let mut parts = vec![Vec::new(); count];
    for slot in slots {
        parts[shard_of(slot.hash, count)].push(slot);
    }
    let shards = parts.iter().map(|part| copy(part.iter(), part.len()));
    shards.collect()
}

/// Creates a shard for this number of slots.
fn copy<'s>(slots: impl Iterator<Item = &'s Slot>, used: usize) -> Shard {
    let mut shard = vec![None; capacity(used)].into();
    for slot in slots {
        put(&mut shard, slot.clone());
    }
    shard
}

/// Returns the length of a shard with this number of tools.
fn capacity(used: usize) -> usize {
    (used * 2 + 1).next_power_of_two()
}

/// Stores a slot in a shard that is not shared and has no tool of this name.
fn put(shard: &mut Shard, slot: Slot) {
    let shard = Arc::make_mut(shard);
    if let Err(at) = find(shard, slot.hash, &slot.tool.name) {
        shard[at] = Some(slot);
    }
}

/// Returns the index of the shard, by the first bits of the hash. `count` is a power of two.
#[inline]
#[allow(clippy::cast_possible_truncation)] // Less than `count`.
fn shard_of(hash: u64, count: usize) -> usize {
    // In two shifts, because one by 64 bits is an overflow.
    (hash >> 1 >> (63 - count.trailing_zeros())) as usize
}

/// Returns a tool and its place, or the empty place for it.
#[inline]
#[allow(clippy::cast_possible_truncation)] // The last bits.
fn find<'s>(
    shard: &'s [Option<Slot>],
    hash: u64,
    name: &str,
) -> Result<(usize, &'s ToolEntry), usize> {
    let mask = shard.len() - 1;
    let mut at = hash as usize & mask;
    while let Some(Some(slot)) = shard.get(at) {
        if slot.hash == hash && slot.tool.name == name {
            return Ok((at, &slot.tool));
        }
        at = (at + 1) & mask;
    }
    Err(at)
}
