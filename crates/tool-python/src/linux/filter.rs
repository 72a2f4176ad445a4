//! The seccomp filters, which decide on the system calls of the code.
//!
//! Two filters are installed, and the stricter verdict counts. One lists the allowed calls and returns `EPERM` for the
//! rest. The other returns `ENOSYS` for newer calls, so that libraries fall back to older ones.
//!
//! One table has both architectures, so tests on one machine can check the programs of the other.

use std::collections::BTreeMap;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen as Length, SeccompCmpOp as Op,
    SeccompCondition as Condition, SeccompFilter, SeccompRule, TargetArch,
};

/// The call does not exist on this architecture.
const NONE: i64 = -1;

/// Placeholder in the compiled filter for the process id, which is only known after the start.
const OWN_PID: u32 = 0x5EA1_ED01;

/// An allowed system call, with its condition.
struct Call {
    /// Used by tests.
    #[cfg_attr(not(test), allow(dead_code))]
    name: &'static str,
    x86_64: i64,
    aarch64: i64,
    only: Only,
}

/// A condition on the arguments of a system call.
enum Only {
    /// No condition.
    Always,
    /// The lower 32 bits of the argument are one of these.
    OneOf(u8, &'static [u32]),
    /// The arguments, under masks, equal these values.
    Masked(&'static [(u8, u64, u64)]),
}

const fn free(name: &'static str, x86_64: i64, aarch64: i64) -> Call {
    only(name, x86_64, aarch64, Only::Always)
}

const fn only(name: &'static str, x86_64: i64, aarch64: i64, only: Only) -> Call {
    Call {
        name,
        x86_64,
        aarch64,
        only,
    }
}

// From `linux/sched.h`.
const CLONE_VM: u64 = 0x100;
const CLONE_FS: u64 = 0x200;
const CLONE_FILES: u64 = 0x400;
const CLONE_SIGHAND: u64 = 0x800;
const CLONE_THREAD: u64 = 0x1_0000;
/// `PTRACE`, `VFORK`, `PARENT`, `UNTRACED` and every new namespace.
const CLONE_NEVER: u64 = 0x2000 | 0x4000 | 0x8000 | 0x80_0000 | 0x2_0000 | 0x7E00_0000;
/// A thread must share the table of descriptors, because with its own it could hide files from the disk limit.
const A_THREAD: u64 = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD;
/// `S_ISUID`, `S_ISGID`.
const SET_ID: u64 = 0o6000;

/// Numbers from `asm/unistd_64.h` and `asm-generic/unistd.h` of Linux 6.1.
const ALLOWED: &[Call] = &[
    // Descriptors.
    free("read", 0, 63),
    free("write", 1, 64),
    free("readv", 19, 65),
    free("writev", 20, 66),
    free("pread64", 17, 67),
    free("pwrite64", 18, 68),
    free("preadv", 295, 69),
    free("pwritev", 296, 70),
    free("lseek", 8, 62),
    free("close", 3, 57),
    free("dup", 32, 23),
    free("dup2", 33, NONE),
    free("dup3", 292, 24),
    free("pipe", 22, NONE),
    free("pipe2", 293, 59),
    free("sendfile", 40, 71),
    free("copy_file_range", 326, 285),
    free("fsync", 74, 82),
    free("fdatasync", 75, 83),
    free("fadvise64", 221, 223),
    free("poll", 7, NONE),
    free("ppoll", 271, 73),
    free("select", 23, NONE),
    free("pselect6", 270, 72),
    free("epoll_create", 213, NONE),
    free("epoll_create1", 291, 20),
    free("epoll_ctl", 233, 21),
    free("epoll_wait", 232, NONE),
    free("epoll_pwait", 281, 22),
    free("eventfd2", 290, 19),
    // Files: Landlock decides which ones. None of these calls changes owners, modes, times or attributes, which
    // Landlock doesn't cover.
    free("stat", 4, NONE),
    free("fstat", 5, 80),
    free("lstat", 6, NONE),
    free("newfstatat", 262, 79),
    free("statx", 332, 291),
    free("access", 21, NONE),
    free("faccessat", 269, 48),
    free("faccessat2", 439, 439),
    free("readlink", 89, NONE),
    free("readlinkat", 267, 78),
    free("getdents64", 217, 61),
    free("getcwd", 79, 17),
    free("chdir", 80, 49),
    free("fchdir", 81, 50),
    free("mkdir", 83, NONE),
    free("mkdirat", 258, 34),
    free("rmdir", 84, NONE),
    free("unlink", 87, NONE),
    free("unlinkat", 263, 35),
    free("rename", 82, NONE),
    free("renameat", 264, 38),
    free("truncate", 76, 45),
    free("ftruncate", 77, 46),
    free("umask", 95, 166),
    // Memory.
    free("mmap", 9, 222),
    free("munmap", 11, 215),
    free("mremap", 25, 216),
    free("mprotect", 10, 226),
    free("madvise", 28, 233),
    free("msync", 26, 227),
    free("brk", 12, 214),
    // Pairs of sockets, for event loops. No `sendmsg`, because descriptors in flight would hide files from the disk
    // limit.
    free("shutdown", 48, 210),
    free("getsockname", 51, 204),
    free("getpeername", 52, 205),
    // Threads.
    free("exit", 60, 93),
    free("exit_group", 231, 94),
    free("futex", 202, 98),
    free("set_robust_list", 273, 99),
    free("get_robust_list", 274, 100),
    free("rseq", 334, 293),
    free("set_tid_address", 218, 96),
    free("sched_yield", 24, 124),
    free("sched_getaffinity", 204, 123),
    free("membarrier", 324, 283),
    free("restart_syscall", 219, 128),
    free("getcpu", 309, 168),
    // Signals.
    free("rt_sigaction", 13, 134),
    free("rt_sigprocmask", 14, 135),
    free("rt_sigreturn", 15, 139),
    free("rt_sigpending", 127, 136),
    free("rt_sigsuspend", 130, 133),
    free("rt_sigtimedwait", 128, 137),
    free("sigaltstack", 131, 132),
    free("pause", 34, NONE),
    // Facts about the process and the machine.
    free("getpid", 39, 172),
    free("gettid", 186, 178),
    free("getppid", 110, 173),
    free("getuid", 102, 174),
    free("geteuid", 107, 175),
    free("getgid", 104, 176),
    free("getegid", 108, 177),
    free("getgroups", 115, 158),
    free("getresuid", 118, 148),
    free("getresgid", 120, 150),
    free("getpgrp", 111, NONE),
    free("getrusage", 98, 165),
    free("times", 100, 153),
    free("sysinfo", 99, 179),
    free("uname", 63, 160),
    free("getrlimit", 97, 163),
    free("setrlimit", 160, 164),
    free("wait4", 61, 260),
    free("waitid", 247, 95),
    // Time and randomness.
    free("clock_gettime", 228, 113),
    free("clock_getres", 229, 114),
    free("clock_nanosleep", 230, 115),
    free("nanosleep", 35, 101),
    free("gettimeofday", 96, 169),
    free("time", 201, NONE),
    free("getitimer", 36, 102),
    free("setitimer", 38, 103),
    free("alarm", 37, NONE),
    free("getrandom", 318, 278),
    // Only to the process itself. `F_SETOWN` is not allowed either, so no descriptor can send signals elsewhere.
    only("kill", 62, 129, Only::OneOf(0, &[OWN_PID])),
    only("tgkill", 234, 131, Only::OneOf(0, &[OWN_PID])),
    // `F_DUPFD`, `F_GETFD`, `F_SETFD`, `F_GETFL`, `F_SETFL`, locks, `F_DUPFD_CLOEXEC`, `F_GETPIPE_SZ`.
    only(
        "fcntl",
        72,
        25,
        Only::OneOf(1, &[0, 1, 2, 3, 4, 5, 6, 7, 36, 37, 38, 1030, 1032]),
    ),
    // `TCGETS`, `TIOCGWINSZ`, `FIONREAD`, `FIONBIO`, `FIONCLEX`, `FIOCLEX`.
    only(
        "ioctl",
        16,
        29,
        Only::OneOf(1, &[0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451]),
    ),
    // `PR_SET_NAME`, `PR_GET_NAME`, `PR_SET_VMA`. Not `PR_SET_PDEATHSIG`.
    only("prctl", 157, 167, Only::OneOf(0, &[15, 16, 0x5356_4D41])),
    only("prlimit64", 302, 261, Only::OneOf(0, &[0])),
    only(
        "clone",
        56,
        220,
        Only::Masked(&[(0, A_THREAD | CLONE_NEVER, A_THREAD)]),
    ),
    // `AF_UNIX`, `SOCK_STREAM`.
    only(
        "socketpair",
        53,
        199,
        Only::Masked(&[(0, 0xFFFF_FFFF, 1), (1, 0xF, 1)]),
    ),
    // Without an address. `MSG_DONTWAIT`, `MSG_NOSIGNAL`. Not `MSG_OOB`, whose data is outside of the socket's buffer.
    only(
        "sendto",
        44,
        206,
        Only::Masked(&[(3, 0xFFFF_FFFF & !0x4040, 0), (4, u64::MAX, 0)]),
    ),
    // Without an address. `MSG_PEEK`, `MSG_WAITALL`. Not `MSG_ERRQUEUE`.
    only(
        "recvfrom",
        45,
        207,
        Only::Masked(&[(3, 0xFFFF_FFFF & !0x4142, 0)]),
    ),
    // No flags or `CLOSE_RANGE_CLOEXEC`. Not `CLOSE_RANGE_UNSHARE`, which copies the table of descriptors.
    only("close_range", 436, 436, Only::OneOf(2, &[0, 4])),
    only("open", 2, NONE, Only::Masked(&[(2, SET_ID, 0)])),
    only("openat", 257, 56, Only::Masked(&[(3, SET_ID, 0)])),
    only("creat", 85, NONE, Only::Masked(&[(1, SET_ID, 0)])),
    // No flags, `RENAME_NOREPLACE`, `RENAME_EXCHANGE`. Not `RENAME_WHITEOUT`, which creates a device.
    only("renameat2", 316, 276, Only::OneOf(4, &[0, 1, 2])),
    // `SO_TYPE`, `SO_ERROR`, `SO_SNDBUF`, `SO_RCVBUF`, `SO_PROTOCOL`, `SO_DOMAIN`. Not `SO_PEERPIDFD`.
    only("getsockopt", 55, 209, Only::OneOf(2, &[3, 4, 7, 8, 38, 39])),
    // The second filter answers these.
    free("clone3", 435, 435),
    free("openat2", 437, 437),
];

/// New calls that libraries replace by older ones on `ENOSYS`.
const UNKNOWN: &[(i64, i64)] = &[(435, 435), (437, 437)];

/// The filters for one architecture.
pub(crate) struct Filters {
    /// In the kernel's format, with 8 bytes for each instruction.
    programs: [Vec<u8>; 2],
}

impl Filters {
    /// Compiles the filters for the architecture of this program.
    pub(crate) fn new() -> Filters {
        let arch = if cfg!(target_arch = "aarch64") {
            TargetArch::aarch64
        } else {
            TargetArch::x86_64
        };
        Filters {
            programs: compile(arch).map(|program| bytes(&program)),
        }
    }

    /// Returns the programs for the process `pid`.
    pub(crate) fn of(&self, pid: u32) -> [Vec<u8>; 2] {
        self.programs.clone().map(|mut program| {
            for instruction in program.chunks_exact_mut(8) {
                if instruction[4..] == OWN_PID.to_ne_bytes() {
                    instruction[4..].copy_from_slice(&pid.to_ne_bytes());
                }
            }
            program
        })
    }
}

fn bytes(program: &BpfProgram) -> Vec<u8> {
    program
        .iter()
        .flat_map(|at| {
            let mut bytes = [0; 8];
            bytes[..2].copy_from_slice(&at.code.to_ne_bytes());
            bytes[2..4].copy_from_slice(&[at.jt, at.jf]);
            bytes[4..].copy_from_slice(&at.k.to_ne_bytes());
            bytes
        })
        .collect()
}

fn compile(arch: TargetArch) -> [BpfProgram; 2] {
    let number = |x86_64, aarch64| {
        if arch == TargetArch::aarch64 {
            aarch64
        } else {
            x86_64
        }
    };
    let unknown = UNKNOWN
        .iter()
        .map(|&(x86_64, aarch64)| (number(x86_64, aarch64), Vec::new()))
        .collect();
    let allowed = ALLOWED
        .iter()
        .map(|call| (number(call.x86_64, call.aarch64), rules(&call.only)))
        .filter(|(number, _)| *number != NONE)
        .collect::<BTreeMap<_, _>>();
    [
        program(
            unknown,
            SeccompAction::Allow,
            SeccompAction::Errno(libc::ENOSYS.unsigned_abs()),
            arch,
        ),
        program(
            allowed,
            SeccompAction::Errno(libc::EPERM.unsigned_abs()),
            SeccompAction::Allow,
            arch,
        ),
    ]
}

/// Compiles one filter. It kills the process at a call of another architecture (`int 0x80`).
fn program(
    rules: BTreeMap<i64, Vec<SeccompRule>>,
    otherwise: SeccompAction,
    matched: SeccompAction,
    arch: TargetArch,
) -> BpfProgram {
    SeccompFilter::new(rules, otherwise, matched, arch)
        .and_then(TryInto::try_into)
        .expect("the tables of this file compile; a unit test does it for both architectures")
}

fn rules(only: &Only) -> Vec<SeccompRule> {
    let condition = |argument, length, op, value| {
        Condition::new(argument, length, op, value).expect("argument < 6")
    };
    let rule = |conditions| SeccompRule::new(conditions).expect("has a condition");
    match only {
        Only::Always => Vec::new(),
        Only::OneOf(argument, values) => values
            .iter()
            .map(|&value| {
                rule(vec![condition(
                    *argument,
                    Length::Dword,
                    Op::Eq,
                    u64::from(value),
                )])
            })
            .collect(),
        Only::Masked(fields) => vec![rule(
            fields
                .iter()
                .map(|&(argument, mask, value)| {
                    condition(argument, Length::Qword, Op::MaskedEq(mask), value)
                })
                .collect(),
        )],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALLOW: u32 = libc::SECCOMP_RET_ALLOW;
    const EPERM: u32 = libc::SECCOMP_RET_ERRNO | 1;
    const ENOSYS: u32 = libc::SECCOMP_RET_ERRNO | 0x26;
    const ARCHES: [(TargetArch, u32); 2] = [
        (TargetArch::x86_64, 0xC000_003E),
        (TargetArch::aarch64, 0xC000_00B7),
    ];

    /// Runs a classic BPF program on one system call, like the kernel.
    fn run(program: &BpfProgram, arch: u32, number: i64, arguments: [u64; 6]) -> u32 {
        let mut data = Vec::new();
        data.extend(u32::try_from(number).unwrap().to_le_bytes());
        data.extend(arch.to_le_bytes());
        data.extend([0; 8]);
        data.extend(arguments.iter().flat_map(|argument| argument.to_le_bytes()));
        let (mut at, mut a) = (0, 0_u32);
        loop {
            let step = &program[at];
            at += 1;
            let mut jump = |holds| at += usize::from(if holds { step.jt } else { step.jf });
            match step.code {
                0x20 => a = u32::from_le_bytes(data[step.k as usize..][..4].try_into().unwrap()),
                0x05 => at += step.k as usize,
                0x06 => return step.k,
                0x15 => jump(a == step.k),
                0x25 => jump(a > step.k),
                0x35 => jump(a >= step.k),
                0x45 => jump(a & step.k != 0),
                0x54 => a &= step.k,
                code => panic!("instruction {code:#x}"),
            }
        }
    }

    /// Returns the verdict of both filters. As in `seccomp_run_filters` of the kernel, actions are compared as signed
    /// numbers and the lower one is stricter.
    fn verdict(arch: TargetArch, audit: u32, name: &str, arguments: [u64; 6]) -> Option<u32> {
        let call = ALLOWED.iter().find(|call| call.name == name).unwrap();
        let number = if arch == TargetArch::aarch64 {
            call.aarch64
        } else {
            call.x86_64
        };
        let strict = |ret: &u32| (*ret & libc::SECCOMP_RET_ACTION_FULL).cast_signed();
        (number != NONE).then(|| {
            compile(arch)
                .map(|program| run(&program, audit, number, arguments))
                .into_iter()
                .min_by_key(strict)
        })?
    }

    #[test]
    fn the_numbers_are_those_of_the_c_library() {
        let here = |call: &Call| {
            if cfg!(target_arch = "aarch64") {
                call.aarch64
            } else {
                call.x86_64
            }
        };
        macro_rules! check {
            ($($name:ident)*) => {$(
                let name = stringify!($name).trim_start_matches("SYS_");
                let call = ALLOWED.iter().find(|call| call.name == name).unwrap();
                assert_eq!(here(call), libc::$name, "{name}");
            )*};
        }
        check!(SYS_read SYS_write SYS_readv SYS_writev SYS_pread64 SYS_pwrite64 SYS_lseek SYS_close SYS_close_range
            SYS_dup SYS_dup3 SYS_pipe2 SYS_sendfile SYS_copy_file_range SYS_fsync SYS_fdatasync SYS_ppoll SYS_pselect6
            SYS_epoll_create1 SYS_epoll_ctl SYS_epoll_pwait SYS_eventfd2 SYS_openat SYS_fstat SYS_newfstatat SYS_statx
            SYS_faccessat SYS_faccessat2 SYS_readlinkat SYS_getdents64 SYS_getcwd SYS_chdir SYS_fchdir SYS_mkdirat
            SYS_unlinkat SYS_renameat SYS_renameat2 SYS_truncate SYS_ftruncate SYS_umask SYS_mmap SYS_munmap SYS_mremap
            SYS_mprotect SYS_madvise SYS_msync SYS_brk SYS_shutdown SYS_recvfrom SYS_getsockopt SYS_getsockname
            SYS_getpeername SYS_exit SYS_exit_group SYS_futex SYS_set_robust_list SYS_rseq SYS_sched_yield
            SYS_sched_getaffinity SYS_membarrier SYS_getcpu SYS_rt_sigaction SYS_rt_sigprocmask SYS_rt_sigreturn
            SYS_sigaltstack SYS_getpid SYS_gettid SYS_getppid SYS_getuid SYS_getgroups SYS_getrusage SYS_times
            SYS_sysinfo SYS_uname SYS_setrlimit SYS_wait4 SYS_waitid SYS_clock_gettime SYS_clock_nanosleep SYS_nanosleep
            SYS_getitimer SYS_setitimer SYS_getrandom SYS_kill SYS_tgkill SYS_fcntl SYS_ioctl SYS_prctl SYS_prlimit64
            SYS_clone SYS_socketpair SYS_sendto SYS_clone3 SYS_openat2);
    }

    #[test]
    fn every_listed_call_is_allowed_on_both_architectures() {
        for (arch, audit) in ARCHES {
            for call in ALLOWED {
                let mut arguments = [0; 6];
                match call.only {
                    Only::Always => {}
                    Only::OneOf(argument, values) => {
                        arguments[usize::from(argument)] = u64::from(values[0]);
                    }
                    Only::Masked(fields) => {
                        for &(argument, _, value) in fields {
                            arguments[usize::from(argument)] = value;
                        }
                    }
                }
                let expected = if ["clone3", "openat2"].contains(&call.name) {
                    ENOSYS
                } else {
                    ALLOW
                };
                if let Some(verdict) = verdict(arch, audit, call.name, arguments) {
                    assert_eq!(verdict, expected, "{} of {arch:?}", call.name);
                }
            }
        }
    }

    #[test]
    fn a_call_that_is_not_listed_fails_on_both_architectures() {
        for (arch, audit) in ARCHES {
            let [_, allowed] = compile(arch);
            let listed = |call: &Call| {
                if arch == TargetArch::aarch64 {
                    call.aarch64
                } else {
                    call.x86_64
                }
            };
            for number in 0..1024 {
                if !ALLOWED.iter().any(|call| listed(call) == number) {
                    assert_eq!(
                        run(&allowed, audit, number, [0; 6]),
                        EPERM,
                        "{number} of {arch:?}"
                    );
                }
            }
            // The x32 interface of x86_64 has its own numbers.
            assert_eq!(run(&allowed, audit, 0x4000_0000, [0; 6]), EPERM);
        }
    }

    #[test]
    fn a_call_of_another_architecture_kills_the_process() {
        for (arch, _) in ARCHES {
            for program in compile(arch) {
                assert_eq!(
                    run(&program, 0x4000_0003, 3, [0; 6]),
                    libc::SECCOMP_RET_KILL_PROCESS
                );
            }
        }
    }

    #[test]
    fn conditions_reject_what_they_are_there_for() {
        const SIGCHLD: u64 = 17;
        let fork = [SIGCHLD, 0, 0, 0, 0, 0];
        let with = |argument: usize, value: u64| {
            let mut arguments = [0; 6];
            arguments[argument] = value;
            arguments
        };
        for (arch, audit) in ARCHES {
            for (name, arguments) in [
                ("kill", with(0, 1)),
                ("kill", with(0, 0)),
                ("kill", with(0, u64::MAX)),
                ("tgkill", with(0, 1)),
                ("fcntl", with(1, 8)),
                ("fcntl", with(1, 1024)),
                ("ioctl", with(1, 0x5412)),
                ("prctl", with(0, 1)),
                ("prctl", with(0, 4)),
                ("prlimit64", with(0, 1)),
                ("clone", fork),
                ("clone", with(0, A_THREAD | 0x1000_0000)),
                ("clone", with(0, CLONE_VM | 0x4000)),
                ("socketpair", [2, 1, 0, 0, 0, 0]),
                ("socketpair", [1, 2, 0, 0, 0, 0]),
                ("sendto", with(4, 0x1_0000_0000)),
                ("sendto", with(4, 1)),
                ("sendto", with(3, 1)),
                ("sendto", with(3, 0x8000_0000)),
                ("recvfrom", with(3, 1)),
                ("recvfrom", with(3, 0x2000)),
                ("recvfrom", with(3, 0x4000_0000)),
                ("clone", with(0, 0x3D_0F00 - CLONE_FILES)),
                ("close_range", with(2, 2)),
                ("openat", with(3, 0o4755)),
                ("renameat2", with(4, 4)),
                ("getsockopt", with(2, 77)),
            ] {
                assert_eq!(
                    verdict(arch, audit, name, arguments),
                    Some(EPERM),
                    "{name} {arguments:?} of {arch:?}"
                );
            }
            for (name, flags) in [("sendto", 0x4040), ("recvfrom", 0x4142), ("recvfrom", 0)] {
                assert_eq!(verdict(arch, audit, name, with(3, flags)), Some(ALLOW));
            }
            let threads_of_glibc_and_musl = [0x3D_0F00, 0x7D_0F00];
            for flags in threads_of_glibc_and_musl {
                assert_eq!(verdict(arch, audit, "clone", with(0, flags)), Some(ALLOW));
            }
        }
    }

    #[test]
    fn the_id_of_the_process_is_patched_into_one_filter_twice() {
        let count = |pid: u32| {
            let programs = Filters::new().of(pid);
            programs.map(|program| {
                program
                    .chunks_exact(8)
                    .filter(|at| at[4..] == pid.to_ne_bytes())
                    .count()
            })
        };
        assert_eq!(count(0x0123_4567), [0, 2]);
        assert_eq!(count(OWN_PID), [0, 2]);
    }
}
