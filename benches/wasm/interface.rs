// The interface of each module: the host writes a name, a line break and arguments to the place that
// `reserve` returns, calls `call`, and reads the reply at `reply`.

use std::sync::Mutex;

static TEXT: Mutex<String> = Mutex::new(String::new());

/// Returns the place of a request of this length.
#[unsafe(no_mangle)]
pub extern "C" fn reserve(length: usize) -> *const u8 {
    let mut text = TEXT.lock().expect("no panic before");
    *text = "\0".repeat(length);
    text.as_ptr()
}

/// Returns the place of the reply.
#[unsafe(no_mangle)]
pub extern "C" fn reply() -> *const u8 {
    TEXT.lock().expect("no panic before").as_ptr()
}

fn replace(text: String) -> usize {
    let mut place = TEXT.lock().expect("no panic before");
    *place = text;
    place.len()
}

/// Writes the tools for a model, and returns the length.
#[unsafe(no_mangle)]
pub extern "C" fn list() -> usize {
    replace(list_tools())
}

/// Runs a call, and returns the length of its result.
#[unsafe(no_mangle)]
pub extern "C" fn call() -> usize {
    let request = TEXT.lock().expect("no panic before").clone();
    let (name, arguments) = request.split_once('\n').expect("a name and arguments");
    replace(call_tool(name, arguments))
}
