//! Where decoded parameters are put.

use serde::de::Deserialize;

use super::reader::{Problem, Reader};

/// A place for one decoded parameter, without its type.
pub trait Decode<'de> {
    /// Decodes the value that comes next. What follows is not looked at.
    fn decode(&mut self, reader: &mut Reader<'de>) -> Result<(), Problem>;
    /// Empties the slot.
    fn reset(&mut self);
}

/// A place for one decoded parameter.
pub struct Slot<T>(Option<T>);

impl<T> Slot<T> {
    /// An empty slot.
    #[allow(clippy::new_without_default)]
    pub const fn new() -> Slot<T> {
        Slot(None)
    }

    /// The decoded value.
    ///
    /// # Panics
    ///
    /// When the slot is empty, which [`Input::read`](super::Input::read) rules out.
    pub fn take(self) -> T {
        self.0.expect("a parameter that was read has a value")
    }

    /// The decoded value, or the default of its type.
    pub fn take_or_default(self) -> T
    where
        T: Default,
    {
        self.0.unwrap_or_default()
    }
}

impl<'de, T: Deserialize<'de>> Decode<'de> for Slot<T> {
    fn decode(&mut self, reader: &mut Reader<'de>) -> Result<(), Problem> {
        self.0 = Some(T::deserialize(reader)?);
        Ok(())
    }

    fn reset(&mut self) {
        self.0 = None;
    }
}
