//! The schema of `Uuid`.

use uuid::Uuid;

use crate::schema::Schema;

schemas! {
    Uuid => Schema::format("uuid");
}
