//! Two questions to the kernel that no safe crate can ask. This is the only unsafe code of the package.
#![allow(unsafe_code)]

use std::ptr;

/// Returns Landlock's ABI version, or 0 if the kernel has no Landlock or has it switched off.
pub(crate) fn landlock_abi() -> u32 {
    const VERSION: libc::c_uint = 1;
    // SAFETY: with the flag `LANDLOCK_CREATE_RULESET_VERSION` the kernel reads no memory: the attributes must be
    // null and their size 0. It returns a number and changes nothing.
    let abi = unsafe {
        libc::syscall(
            libc::SYS_landlock_create_ruleset,
            ptr::null::<u8>(),
            0_usize,
            VERSION,
        )
    };
    u32::try_from(abi).unwrap_or(0)
}

/// Returns `true` if the kernel has seccomp filters that kill a process and that return an error.
pub(crate) fn seccomp_filters() -> bool {
    [libc::SECCOMP_RET_KILL_PROCESS, libc::SECCOMP_RET_ERRNO]
        .iter()
        .all(|action: &u32| {
            // SAFETY: `SECCOMP_GET_ACTION_AVAIL` reads one `u32` from the pointer, which is a live reference. It
            // changes nothing.
            unsafe {
                libc::syscall(
                    libc::SYS_seccomp,
                    libc::SECCOMP_GET_ACTION_AVAIL,
                    0,
                    ptr::from_ref(action),
                ) == 0
            }
        })
}
