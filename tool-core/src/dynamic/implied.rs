//! Mistakes that go without saying: the words of another have them already.

use std::collections::HashSet;

use jsonschema::ValidationError;
use jsonschema::error::ValidationErrorKind as Kind;

/// Which of some errors say more than they seem: each by where the value stands, and where the
/// schema.
#[derive(Default)]
pub(super) struct Implied<'e> {
    /// The value is of another type, so that no other keyword means anything for it.
    unlike: HashSet<Place<'e>>,
    /// The string is too long, too short or of another format: all that it must be is told.
    told: HashSet<Place<'e>>,
    /// The array is too long, so that some of its items are too many.
    long: HashSet<Place<'e>>,
}

type Place<'e> = (&'e str, &'e str);

impl<'e> Implied<'e> {
    pub(super) fn of(errors: &'e [ValidationError<'_>]) -> Self {
        let mut implied = Implied::default();
        for error in errors {
            let places = match error.kind() {
                Kind::Type { .. } => &mut implied.unlike,
                Kind::MinLength { .. } | Kind::MaxLength { .. } | Kind::Format { .. } => {
                    &mut implied.told
                }
                Kind::MaxItems { .. } => &mut implied.long,
                _ => continue,
            };
            places.insert(place(error));
        }
        implied
    }

    /// Whether another error has the words of this one.
    pub(super) fn has(&self, error: &ValidationError<'_>) -> bool {
        let (value, schema) = place(error);
        match error.kind() {
            Kind::Type { .. } => false,
            Kind::Pattern { .. } if self.told.contains(&(value, schema)) => true,
            Kind::FalseSchema => self.long.contains(&(parent(value), schema)),
            Kind::AdditionalItems { .. } if self.long.contains(&(value, schema)) => true,
            _ => self.unlike.contains(&(value, schema)),
        }
    }
}

fn place<'e>(error: &'e ValidationError<'_>) -> Place<'e> {
    let keyword = error.schema_path().as_str();
    (error.instance_path().as_str(), parent(keyword))
}

/// A JSON pointer without its last step.
fn parent(pointer: &str) -> &str {
    pointer.rsplit_once('/').map_or("", |(parent, _)| parent)
}
