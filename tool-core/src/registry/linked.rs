//! The list of all linked tools.
//!
//! `#[tool]` emits one `static` for each tool, in a section of the object file that all tools share. The
//! linker concatenates the sections of all crates, and marks start and end. This module reads the entries
//! between them. The attributes are the same as in the crate `linkme`; its macro would add a function and
//! two closures for each tool, which take a tenth of its `cargo check`.
//!
//! A program may contain several copies of this crate: other versions, or the same version from another
//! source. All write to one section. So an entry starts with its [`Owner`], which has the same form in
//! every version, and a copy reads nothing else of the entries of others.
//!
//! The linker of WebAssembly concatenates only functions that run at start-up. There, the section holds a
//! function for each tool, which adds the tool to a list of its copy of this crate.

#[cfg(not(target_family = "wasm"))]
use std::collections::BTreeSet;
#[cfg(not(target_family = "wasm"))]
use std::mem::MaybeUninit;
#[cfg(not(target_family = "wasm"))]
use std::sync::atomic::AtomicU8;
#[cfg(target_family = "wasm")]
use std::sync::{Mutex, PoisonError};

use crate::tool::{StaticTool, Tool, ToolEntry};

// The number in the names is the version of the form of entries.

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
        "set_tool_core_1"
    };
}

/// Expands to the section of the static entries. Mach-O allows 16 characters.
#[cfg(target_vendor = "apple")]
#[doc(hidden)]
#[macro_export]
macro_rules! __tool_core_link_section {
    () => {
        "__DATA,__tool_core_1,regular,no_dead_strip"
    };
}

/// Expands to the section of the static entries. The linker sorts by the text after the `$`. MinGW's linker
/// drops sections to which nothing refers, unless their name starts with `.vectors`.
#[cfg(any(target_os = "windows", target_os = "uefi"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __tool_core_link_section {
    () => {
        ".vectors_tool_core_1$b"
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

/// A linked tool: in every version of this crate its owner, and data that only the owner reads.
#[doc(hidden)]
#[cfg(not(target_family = "wasm"))]
#[repr(C)]
pub struct LinkedTool {
    owner: &'static Owner,
    tool: MaybeUninit<Entry>,
}

/// A linked tool, which only the linker reads.
#[doc(hidden)]
#[cfg(target_family = "wasm")]
#[expect(dead_code)]
pub struct LinkedTool(extern "C" fn());

/// The copy of this crate with which a tool was compiled. No version changes the form.
#[cfg(not(target_family = "wasm"))]
#[repr(C)]
struct Owner {
    copy: *const AtomicU8,
    /// The path of the tool's module, in UTF-8.
    module: *const u8,
    module_length: usize,
}

// SAFETY: an owner is constant, and points to a constant text and to a static of which only the address is used.
#[cfg(not(target_family = "wasm"))]
#[allow(unsafe_code)]
unsafe impl Sync for Owner {}

/// Its address identifies this copy of the crate. It can be written, because linkers may merge constants
/// that are equal.
#[cfg(not(target_family = "wasm"))]
static COPY: AtomicU8 = AtomicU8::new(0);

/// Stops the linker if there are two copies of one version, which could not find each other's tools.
#[cfg(all(target_family = "wasm", not(test)))]
#[used]
#[allow(unsafe_code)]
#[unsafe(export_name = "two_copies_of_tool_core_0_1_are_in_this_module__cargo_tree_d_shows_them")]
static COPY: u8 = 0;

#[cfg(not(target_family = "wasm"))]
impl Owner {
    const fn of<T: Tool>() -> Owner {
        // With `LOCATION`, an edit would evaluate the entry of each tool below it again.
        let module = T::MODULE;
        Owner {
            copy: &raw const COPY,
            module: module.as_ptr(),
            module_length: module.len(),
        }
    }

    fn is_this_copy(&self) -> bool {
        std::ptr::eq(self.copy, &raw const COPY)
    }

    /// Returns the name of the crate that defines the tool.
    #[allow(unsafe_code)]
    fn krate(&self) -> &'static str {
        // SAFETY: each copy writes the address and the length of a constant.
        let module = unsafe { core::slice::from_raw_parts(self.module, self.module_length) };
        let module = std::str::from_utf8(module).unwrap_or_default();
        module.split(':').next().unwrap_or_default()
    }
}

/// Without optimisation, it is a function that returns the entry. rustc compiles all that is not
/// generic in a module as one unit, and generic functions as another. If the entry were in the unit
/// of the module, the edit of one description would compile every tool and every other function of
/// the module again: 5.5 ms for each tool instead of 2.
#[cfg(all(debug_assertions, not(target_family = "wasm")))]
type Entry = fn() -> &'static StaticTool;
#[cfg(all(not(debug_assertions), not(target_family = "wasm")))]
type Entry = &'static StaticTool;

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
    pub(crate) const fn of<T: Tool>() -> LinkedTool {
        LinkedTool {
            owner: const { &Owner::of::<T>() },
            tool: MaybeUninit::new(Self::entry::<T>()),
        }
    }

    #[cfg(debug_assertions)]
    const fn entry<T: Tool>() -> Entry {
        fn entry<T: Tool>() -> &'static StaticTool {
            T::ENTRY
        }
        entry::<T>
    }

    #[cfg(not(debug_assertions))]
    const fn entry<T: Tool>() -> Entry {
        T::ENTRY
    }

    /// Returns the tool, unless it is of another copy.
    #[allow(unsafe_code)]
    fn get(&self) -> Option<&'static StaticTool> {
        if !self.owner.is_this_copy() {
            return None;
        }
        // SAFETY: this copy wrote the entry, with `of`.
        let entry = unsafe { self.tool.assume_init() };
        #[cfg(debug_assertions)]
        let entry = entry();
        Some(entry)
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

/// Returns every `#[tool]` that is linked into the program, or why they can't be listed.
#[cfg(target_family = "wasm")]
pub(crate) fn tools() -> Result<impl Iterator<Item = ToolEntry>, String> {
    let started = STARTED.lock().unwrap_or_else(PoisonError::into_inner);
    let tools = started.tools.clone();
    Ok(tools.into_iter().map(ToolEntry::from_static))
}

/// Returns every `#[tool]` that is linked into the program, or why they can't be listed.
#[cfg(not(target_family = "wasm"))]
pub(crate) fn tools() -> Result<impl Iterator<Item = ToolEntry>, String> {
    if cfg!(miri) {
        return Err(
            "Miri does not link the program, so it has no list of the tools; \
             list them with `Registry::builder().tools(tools![…])`"
                .into(),
        );
    }
    let others = section().iter().map(|linked| linked.owner);
    let others = others.filter(|owner| !owner.is_this_copy());
    let crates: BTreeSet<_> = others.map(Owner::krate).collect();
    if crates.is_empty() {
        let tools = section().iter().filter_map(LinkedTool::get);
        return Ok(tools.map(ToolEntry::from_static));
    }
    Err(format!(
        "these crates define tools with another copy of tool-core, which can't be listed with those of this one: {}; \
         `cargo tree -d` shows the copies and which crates need them: depend everywhere on one version from one source, \
         or choose the tools of this copy with `Registry::builder().tools(tools![…])`",
        Vec::from_iter(crates).join(", ")
    ))
}

/// Returns the content of the section.
#[cfg(not(any(target_family = "wasm", target_os = "windows", target_os = "uefi")))]
#[allow(unsafe_code)]
fn section() -> &'static [LinkedTool] {
    unsafe extern "Rust" {
        #[cfg_attr(
            target_vendor = "apple",
            link_name = "\x01section$start$__DATA$__tool_core_1"
        )]
        #[cfg_attr(not(target_vendor = "apple"), link_name = "__start_set_tool_core_1")]
        static START: [LinkedTool; 0];
        #[cfg_attr(
            target_vendor = "apple",
            link_name = "\x01section$end$__DATA$__tool_core_1"
        )]
        #[cfg_attr(not(target_vendor = "apple"), link_name = "__stop_set_tool_core_1")]
        static STOP: [LinkedTool; 0];
    }

    // Without an entry, the linker would not define the symbols.
    #[cfg(not(target_vendor = "apple"))]
    #[used]
    #[unsafe(link_section = link_section!())]
    static NO_TOOLS: [LinkedTool; 0] = [];

    let (start, stop) = (&raw const START, &raw const STOP);
    let length = (stop as usize - start as usize) / size_of::<LinkedTool>();
    // SAFETY: the section contains only what the macro emits, without padding between: values of one form, whichever
    // copy of this crate emits them. The tool of another copy is not looked at.
    unsafe { core::slice::from_raw_parts(start.cast(), length) }
}

/// Returns the content of the section.
#[cfg(any(target_os = "windows", target_os = "uefi"))]
#[allow(unsafe_code)]
fn section() -> &'static [LinkedTool] {
    // Some code generators write empty statics with a size, so these have one.
    #[unsafe(link_section = ".vectors_tool_core_1$a")]
    static START: Option<LinkedTool> = None;
    #[unsafe(link_section = ".vectors_tool_core_1$c")]
    static STOP: Option<LinkedTool> = None;

    let start = (&raw const START).wrapping_add(1);
    let length = (&raw const STOP as usize - start as usize) / size_of::<LinkedTool>();
    // The compiler must not see that the slice is outside of `START`.
    let start = core::hint::black_box(start);
    // SAFETY: the section contains only what the macro emits, without padding between: values of one form, whichever
    // copy of this crate emits them. The tool of another copy is not looked at.
    unsafe { core::slice::from_raw_parts(start.cast(), length) }
}

/// Copies of every version read these, so if you change the form, rename the section.
#[cfg(not(target_family = "wasm"))]
#[test]
fn entries_keep_their_form() {
    use std::mem::offset_of;

    const WORD: usize = size_of::<usize>();
    assert_eq!(
        (size_of::<LinkedTool>(), size_of::<Owner>()),
        (2 * WORD, 3 * WORD)
    );
    assert_eq!(offset_of!(LinkedTool, owner), 0);
    assert_eq!(offset_of!(Owner, copy), 0);
    assert_eq!(offset_of!(Owner, module), WORD);
    assert_eq!(offset_of!(Owner, module_length), 2 * WORD);
    assert!(link_section!().contains("tool_core_1"));
}
