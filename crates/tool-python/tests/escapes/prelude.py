# Names for the attempts. The test adds: SECRET, a file that everyone may read and write; OUTSIDE, its folder; HOST, the
# process of the test; SIBLING and SIBLING_FOLDER, another run; PORT, a server; INHERITED, a descriptor of the host.
import ctypes, os, platform, stat, sys, time

MACHINE = platform.machine()
# From `asm/unistd_64.h` and `asm-generic/unistd.h` of Linux.
NR = {
    'acct': 163, 'add_key': 248, 'bpf': 321, 'capset': 126, 'clone': 56, 'clone3': 435, 'close_range': 436,
    'execveat': 322, 'exit': 60, 'fanotify_init': 300, 'fchmodat2': 452, 'fsopen': 430, 'getpid': 39, 'init_module': 175,
    'inotify_init1': 294, 'io_setup': 206, 'io_uring_enter': 426, 'io_uring_setup': 425, 'kcmp': 312,
    'kexec_load': 246, 'keyctl': 250, 'landlock_create_ruleset': 444, 'linkat': 265, 'mbind': 237, 'memfd_secret':
    447, 'mlockall': 151, 'mount': 165, 'mq_open': 240, 'msgget': 68, 'name_to_handle_at': 303,
    'open_by_handle_at': 304, 'open_tree': 428, 'openat': 257, 'perf_event_open': 298, 'personality': 135,
    'pidfd_getfd': 438, 'pivot_root': 155, 'prlimit64': 302, 'process_madvise': 440, 'process_vm_readv': 310,
    'process_vm_writev': 311, 'ptrace': 101, 'quotactl': 179, 'reboot': 169, 'renameat2': 316, 'request_key': 249,
    'rt_sigqueueinfo': 129, 'seccomp': 317, 'semget': 64, 'sendmmsg': 307, 'sethostname': 170, 'setns': 308,
    'shmget': 29, 'splice': 275, 'swapon': 167, 'sync': 162, 'syslog': 103, 'tgkill': 234, 'tkill': 200,
    'umount2': 166, 'unshare': 272, 'userfaultfd': 323, 'vfork': 58, 'vmsplice': 278
} if MACHINE == 'x86_64' else {
    'acct': 89, 'add_key': 217, 'bpf': 280, 'capset': 91, 'clone': 220, 'clone3': 435, 'close_range': 436,
    'execveat': 281, 'exit': 93, 'fanotify_init': 262, 'fchmodat2': 452, 'fsopen': 430, 'getpid': 172, 'init_module': 105,
    'inotify_init1': 26, 'io_setup': 0, 'io_uring_enter': 426, 'io_uring_setup': 425, 'kcmp': 272, 'kexec_load':
    104, 'keyctl': 219, 'landlock_create_ruleset': 444, 'linkat': 37, 'mbind': 235, 'memfd_secret': 447,
    'mlockall': 230, 'mount': 40, 'mq_open': 180, 'msgget': 186, 'name_to_handle_at': 264, 'open_by_handle_at':
    265, 'open_tree': 428, 'openat': 56, 'perf_event_open': 241, 'personality': 92, 'pidfd_getfd': 438,
    'pivot_root': 41, 'prlimit64': 261, 'process_madvise': 440, 'process_vm_readv': 270, 'process_vm_writev': 271,
    'ptrace': 117, 'quotactl': 60, 'reboot': 142, 'renameat2': 276, 'request_key': 218, 'rt_sigqueueinfo': 138,
    'seccomp': 277, 'semget': 190, 'sendmmsg': 269, 'sethostname': 161, 'setns': 268, 'shmget': 194, 'splice': 76,
    'swapon': 224, 'sync': 81, 'syslog': 116, 'tgkill': 131, 'tkill': 130, 'umount2': 39, 'unshare': 97,
    'userfaultfd': 282, 'vmsplice': 75
}
libc = ctypes.CDLL(None, use_errno=True)


def checked(result):
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def raw(number, *arguments):
    """Makes a system call."""
    libc.syscall.restype = ctypes.c_long
    return checked(libc.syscall(ctypes.c_long(number), *[ctypes.c_long(a) if type(a) is int else a for a in arguments]))


def sc(name, *arguments):
    return raw(NR[name], *arguments)


def prctl(*arguments):
    return checked(libc.prctl(*[ctypes.c_long(a) for a in arguments + (0,) * (5 - len(arguments))]))


def int80():
    """Runs `mov eax, 20; int 0x80; ret`: `getpid` of the 32-bit interface."""
    import mmap

    code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    code.write(b'\xb8\x14\0\0\0\xcd\x80\xc3')
    return ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))()


def leave_to(thread):
    """Ends the first thread of the process, while another one goes on."""
    import threading

    def later():
        time.sleep(0.005)
        thread()

    threading.Thread(target=later, daemon=True).start()
    sc('exit', 0)


CHANNEL = next(fd for fd in range(3, 100) if stat.S_ISSOCK(os.fstat(fd).st_mode))
DISK = next((disk for disk in ('/dev/vda', '/dev/sda', '/dev/nvme0n1') if os.path.exists(disk)), '/dev/sda')
