//! The list of all linked tools.
//!
//! `#[tool]` emits one `static` for each tool, in a section of the object file that all tools share.
//! The linker concatenates the sections of all crates, and marks start and end. This module reads
//! what is between. The attributes are the ones that the crate `linkme` writes; its macro would add a function
//! and two closures for each tool, which take a tenth of its `cargo check`.
//!
//! The linker of WebAssembly concatenates only functions that run at start-up. There, the section
//! holds a function for each tool, which adds the tool to a list.

#[cfg(target_family = "wasm")]
use std::sync::{Mutex, PoisonError};

use crate::tool::{StaticTool, Tool, ToolEntry};

// The names contain the version, since two versions of this crate may be in one program.

/// Expands to the section of the static entries. Only linkers of ELF define the symbols of its start
/// and its end by themselves; the linker of illumos only for names that start with `set_`.
#[cfg(not(any(
    target_family = "wasm",
    target_vendor = "apple",
    target_os = "windows",
    target_os = "uefi"
)))]
#[doc(hidden)]
#[macro_export]
macro_rules! __tool_core_link_section {
    () => {
        "set_tool_core_0_1"
    };
}

/// Expands to the section of the static entries. Mach-O allows 16 characters.
#[cfg(target_vendor = "apple")]
#[doc(hidden)]
#[macro_export]
macro_rules! __tool_core_link_section {
    () => {
        "__DATA,__tool_core_0_1,regular,no_dead_strip"
    };
}

/// Expands to the section of the static entries. The linker sorts by what follows the `$`. That of
/// MinGW drops sections to which nothing refers, unless their name starts with `.vectors`.
#[cfg(any(target_os = "windows", target_os = "uefi"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __tool_core_link_section {
    () => {
        ".vectors_tool_core_0_1$b"
    };
}

/// Expands to the section of the functions that run at start-up. rustc turns every other section of
/// a static into a custom section, which a program can't read.
#[cfg(target_family = "wasm")]
#[doc(hidden)]
#[macro_export]
macro_rules! __tool_core_link_section {
    () => {
        ".init_array"
    };
}

#[cfg(not(any(
    target_family = "wasm",
    target_vendor = "apple",
    target_os = "android",
    target_os = "freebsd",
    target_os = "fuchsia",
    target_os = "illumos",
    target_os = "linux",
    target_os = "none",
    target_os = "openbsd",
    target_os = "psp",
    target_os = "uefi",
    target_os = "windows",
)))]
compile_error!("tool-core cannot list the tools of a program on this platform");

#[doc(hidden)]
pub use __tool_core_link_section as link_section;

/// A linked tool.
///
/// Without optimisation, it is a function that returns the entry. rustc compiles all that is not
/// generic in a module as one unit, and generic functions as another. If the entry were in the unit
/// of the module, the edit of one description would compile every tool and every other function of
/// the module again: 5.5 ms for each tool instead of 2.
#[doc(hidden)]
#[derive(Clone, Copy)]
#[cfg_attr(target_family = "wasm", expect(dead_code))] // Only the linker reads it.
pub struct LinkedTool(Inner);

#[cfg(all(debug_assertions, not(target_family = "wasm")))]
type Inner = fn() -> &'static StaticTool;
#[cfg(all(not(debug_assertions), not(target_family = "wasm")))]
type Inner = &'static StaticTool;
#[cfg(target_family = "wasm")]
type Inner = extern "C" fn();

#[cfg(target_family = "wasm")]
impl LinkedTool {
    pub(crate) const fn of<T: Tool>() -> LinkedTool {
        extern "C" fn start<T: Tool>() {
            add(T::ENTRY);
        }
        LinkedTool(start::<T>)
    }
}

#[cfg(not(target_family = "wasm"))]
impl LinkedTool {
    #[cfg(debug_assertions)]
    pub(crate) const fn of<T: Tool>() -> LinkedTool {
        fn entry<T: Tool>() -> &'static StaticTool {
            T::ENTRY
        }
        LinkedTool(entry::<T>)
    }

    #[cfg(not(debug_assertions))]
    pub(crate) const fn of<T: Tool>() -> LinkedTool {
        LinkedTool(T::ENTRY)
    }

    #[cfg(debug_assertions)]
    fn entry(self) -> &'static StaticTool {
        (self.0)()
    }

    #[cfg(not(debug_assertions))]
    fn entry(self) -> &'static StaticTool {
        self.0
    }
}

/// The tools that were added at start-up.
#[cfg(target_family = "wasm")]
static STARTED: Mutex<Started> = Mutex::new(Started {
    tools: Vec::new(),
    is_complete: false,
});

#[cfg(target_family = "wasm")]
struct Started {
    tools: Vec<&'static StaticTool>,
    is_complete: bool,
}

/// Adds a tool at start-up.
///
/// In a module without `main` that does not export `_initialize`, the linker runs these functions
/// before each call of an export. The second time, the first tool comes again, and the list is
/// complete.
#[cfg(target_family = "wasm")]
fn add(tool: &'static StaticTool) {
    let mut started = STARTED.lock().unwrap_or_else(PoisonError::into_inner);
    if started.is_complete {
        return;
    }
    let first = started.tools.first();
    if first.is_some_and(|first| std::ptr::eq(*first, tool)) {
        started.is_complete = true;
    } else {
        started.tools.push(tool);
    }
}

/// Returns every `#[tool]` that is linked into the program.
#[cfg(target_family = "wasm")]
pub(crate) fn tools() -> impl Iterator<Item = ToolEntry> {
    let started = STARTED.lock().unwrap_or_else(PoisonError::into_inner);
    let tools = started.tools.clone();
    tools.into_iter().map(ToolEntry::from_static)
}

/// Returns every `#[tool]` that is linked into the program.
#[cfg(not(target_family = "wasm"))]
pub(crate) fn tools() -> impl Iterator<Item = ToolEntry> {
    section()
        .iter()
        .map(|tool| ToolEntry::from_static(tool.entry()))
}

/// Returns the content of the section.
#[cfg(not(any(target_family = "wasm", target_os = "windows", target_os = "uefi")))]
#[allow(unsafe_code)]
fn section() -> &'static [LinkedTool] {
    unsafe extern "Rust" {
        #[cfg_attr(
            target_vendor = "apple",
            link_name = "\x01section$start$__DATA$__tool_core_0_1"
        )]
        #[cfg_attr(not(target_vendor = "apple"), link_name = "__start_set_tool_core_0_1")]
        static START: [LinkedTool; 0];
        #[cfg_attr(
            target_vendor = "apple",
            link_name = "\x01section$end$__DATA$__tool_core_0_1"
        )]
        #[cfg_attr(not(target_vendor = "apple"), link_name = "__stop_set_tool_core_0_1")]
        static STOP: [LinkedTool; 0];
    }

    // Without an entry, the linker would not define the symbols.
    #[cfg(not(target_vendor = "apple"))]
    #[used]
    #[unsafe(link_section = link_section!())]
    static NO_TOOLS: [LinkedTool; 0] = [];

    let (start, stop) = (&raw const START, &raw const STOP);
    let length = (stop as usize - start as usize) / size_of::<LinkedTool>();
    // SAFETY: the section contains only what the macro emits, values of one type of this version,
    // which need no padding between them.
    unsafe { core::slice::from_raw_parts(start.cast(), length) }
}

/// Returns the content of the section.
#[cfg(any(target_os = "windows", target_os = "uefi"))]
#[allow(unsafe_code)]
fn section() -> &'static [LinkedTool] {
    // Some code generators write empty statics with a size, so these have one.
    #[unsafe(link_section = ".vectors_tool_core_0_1$a")]
    static START: Option<LinkedTool> = None;
    #[unsafe(link_section = ".vectors_tool_core_0_1$c")]
    static STOP: Option<LinkedTool> = None;

    let start = (&raw const START).wrapping_add(1);
    let length = (&raw const STOP as usize - start as usize) / size_of::<LinkedTool>();
    // The compiler must not see that the slice is outside of `START`.
    let start = core::hint::black_box(start);
    // SAFETY: the section contains only what the macro emits, values of one type of this version,
    // which need no padding between them.
    unsafe { core::slice::from_raw_parts(start.cast(), length) }
}

#[cfg(not(target_family = "wasm"))]
#[test]
fn the_section_is_that_of_this_version() {
    let version = env!("CARGO_PKG_VERSION").rsplit_once('.').unwrap().0;
    assert!(link_section!().contains(&format!("_{}", version.replace('.', "_"))));
}
