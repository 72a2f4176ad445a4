//! [`Path`]: the place of a value in the arguments.

use crate::schema::const_string::ConstString;
use crate::schema::cursor::{Cursor, Quoted};
use crate::schema::messages::{name, shorten};

/// The place of a value in the arguments. Lives on the stack and is formatted only for a message.
pub(crate) struct Path<'p> {
    parent: Option<&'p Path<'p>>,
    step: Step<'p>,
}

enum Step<'p> {
    Root,
    Key(&'p str),
    Index(usize),
}

impl Path<'_> {
    pub(crate) const ROOT: Path<'static> = Path {
        parent: None,
        step: Step::Root,
    };

    pub(crate) const fn key<'p>(&'p self, key: &'p str) -> Path<'p> {
        Path {
            parent: Some(self),
            step: Step::Key(key),
        }
    }

    pub(crate) const fn index(&self, index: usize) -> Path<'_> {
        Path {
            parent: Some(self),
            step: Step::Index(index),
        }
    }

    /// Returns the path as text, such as `stops[2].name`, with capacity for a message after it.
    pub(super) fn text(&self) -> String {
        let mut text = String::with_capacity(128);
        self.write(&mut text);
        text
    }

    /// Appends the path in constant code, with keys as they are.
    pub(crate) const fn push_to<const N: usize>(&self, line: &mut ConstString<N>) {
        let Some(parent) = self.parent else {
            return;
        };
        parent.push_to(line);
        match self.step {
            Step::Root => {}
            Step::Index(index) => {
                line.push("[");
                line.number(index);
                line.push("]");
            }
            Step::Key(key) => {
                if !parent.is_root() {
                    line.push(".");
                }
                line.push(key);
            }
        }
    }

    pub(crate) const fn is_root(&self) -> bool {
        self.parent.is_none()
    }

    fn write(&self, text: &mut String) {
        let Some(parent) = self.parent else {
            return;
        };
        parent.write(text);
        match self.step {
            Step::Root => {}
            Step::Index(index) => push_index(text, index),
            Step::Key(key) => push_key(text, key),
        }
    }
}

/// Appends a key to a path. Quotes a key that could be taken for no step or for an index.
pub(crate) fn push_key(path: &mut String, key: &str) {
    if !path.is_empty() {
        path.push('.');
    }
    if key.is_empty() || key.starts_with('[') {
        path.push_str(&format!("{:?}", shorten(key)));
    } else {
        path.push_str(&name(key));
    }
}

/// Appends the place of an item to a path.
pub(crate) fn push_index(path: &mut String, index: usize) {
    path.push_str(&format!("[{index}]"));
}

/// Returns the path to the innermost value that contains an offset of a JSON text or ends there.
/// `path` is the path to the whole value.
pub(crate) fn path_at(mut path: String, text: &str, offset: usize) -> String {
    let mut cursor = Cursor::new(text);
    loop {
        let (open, close) = match cursor.peek() {
            b'{' => (b'{', b'}'),
            b'[' => (b'[', b']'),
            _ => return path,
        };
        cursor.eat(open);
        let mut index = 0;
        loop {
            if cursor.eat(close) || cursor.peek() == 0 {
                return path;
            }
            let key = (open == b'{').then(|| cursor.key());
            let inner = cursor;
            cursor.value();
            // An offset between two values belongs to the whole.
            if inner.position() < offset && offset <= cursor.position() {
                match key.map(Quoted::text) {
                    Some(key) => push_key(&mut path, &key.unwrap_or_default()),
                    None => push_index(&mut path, index),
                }
                cursor = inner;
                break;
            }
            cursor.eat(b',');
            index += 1;
        }
    }
}
