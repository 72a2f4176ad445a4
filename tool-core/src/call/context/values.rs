//! Values by their types.

use std::any::{Any, TypeId};
use std::sync::Arc;

use crate::call::context::Shared;

/// At most one value of each type. There are few, so they are looked through.
#[derive(Clone, Default)]
pub(crate) struct Values(Option<Arc<Vec<(TypeId, Shared)>>>);

impl Values {
    /// Puts a value in the place of the one of its type.
    pub(crate) fn insert<T: Any + Send + Sync>(&mut self, value: T) {
        let values = Arc::make_mut(self.0.get_or_insert_default());
        let id = TypeId::of::<T>();
        values.retain(|(other, _)| *other != id);
        values.push((id, Arc::new(value)));
    }

    pub(crate) fn get<T: Any + Send + Sync>(&self) -> Option<&T> {
        self.find(TypeId::of::<T>())?.downcast_ref()
    }

    pub(crate) fn has(&self, id: TypeId) -> bool {
        self.find(id).is_some()
    }

    fn find(&self, id: TypeId) -> Option<&Shared> {
        let values = self.0.as_deref()?;
        let (_, value) = values.iter().find(|(other, _)| *other == id)?;
        Some(value)
    }
}
