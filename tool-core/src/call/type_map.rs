//! [`TypeMap`]: context values by type.

use std::any::{Any, TypeId, type_name};
use std::sync::Arc;

use crate::call::boundary::Guarded;

/// A context value of any type `T` as a `Guarded<T>`, or a receiver as a `Guarded<Arc<T>>`.
pub(crate) type Shared = Arc<dyn Any + Send + Sync>;

/// At most one value of each type. Searched linearly, because there are few.
#[derive(Clone, Default)]
pub(crate) struct TypeMap(Option<Arc<Vec<ContextValue>>>);

#[derive(Clone)]
struct ContextValue {
    id: TypeId,
    type_name: fn() -> &'static str,
    value: Shared,
}

impl TypeMap {
    /// Inserts a value. Replaces an earlier value of the same type.
    pub(crate) fn insert<T: Any + Send + Sync>(&mut self, value: T) {
        let values = Arc::make_mut(self.0.get_or_insert_default());
        let id = TypeId::of::<T>();
        values.retain(|other| other.id != id);
        values.push(ContextValue {
            id,
            type_name: type_name::<T>,
            value: Arc::new(Guarded::new(value)),
        });
    }

    /// Adds the values of another map whose types this one lacks.
    pub(super) fn inherit(&mut self, parent: &TypeMap) {
        let Some(parent) = &parent.0 else {
            return;
        };
        let Some(values) = &mut self.0 else {
            self.0 = Some(Arc::clone(parent));
            return;
        };
        let values = Arc::make_mut(values);
        for value in parent.iter() {
            if values.iter().all(|other| other.id != value.id) {
                values.push(value.clone());
            }
        }
    }

    /// Returns the paths of the types.
    pub(crate) fn type_names(&self) -> impl Iterator<Item = &'static str> {
        let values = self.0.as_deref().into_iter().flatten();
        values.map(|value| (value.type_name)())
    }

    pub(crate) fn contains(&self, id: TypeId) -> bool {
        self.find(id).is_some()
    }

    pub(crate) fn get<T: Any + Send + Sync>(&self) -> Option<&T> {
        let value = self.find(TypeId::of::<T>())?;
        value.downcast_ref::<Guarded<T>>()?.get()
    }

    fn find(&self, id: TypeId) -> Option<&Shared> {
        let values = self.0.as_deref()?;
        let found = values.iter().find(|value| value.id == id)?;
        Some(&found.value)
    }
}

/// Returns a note about the type among `given` that was probably meant for `needed`: one that wraps
/// it, that it wraps, or of the same name. Takes paths of types.
pub(crate) fn near_miss<'n>(needed: &str, given: impl Iterator<Item = &'n str>) -> Option<String> {
    let names = type_words(needed);
    let is_near = |given: &&str| {
        let given = type_words(given);
        let is_own = |word: &&str| !STD_TYPES.contains(word);
        let same_start = given.first() == names.first() && given.first().is_some_and(is_own);
        same_start || given.last() == names.last()
    };
    let mut given = given.filter(is_near);
    let first = given.next()?;
    Some(if first == needed {
        "there is a value of another type of this name, perhaps of another version of the crate"
            .into()
    } else {
        format!("there is a value of type {first}")
    })
}

/// Types that wrap others. That two types are wrapped alike says nothing.
const STD_TYPES: [&str; 14] = [
    "Arc", "Box", "Cell", "HashMap", "BTreeMap", "HashSet", "Mutex", "OnceLock", "Option", "Rc",
    "RefCell", "RwLock", "Vec", "Weak",
];

/// Returns the names in the path of a type, without modules: `Arc`, `Store` for
/// `alloc::sync::Arc<app::Store>`. All kinds of strings have one name.
fn type_words(path: &str) -> Vec<&str> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    let words = path
        .split(|c: char| !is_word(c))
        .filter(|word| !word.is_empty());
    let names = words.map(|word| word.rsplit("::").next().unwrap_or(word));
    names
        .map(|name| if name == "str" { "String" } else { name })
        .collect()
}
