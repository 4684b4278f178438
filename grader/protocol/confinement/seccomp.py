"""A seccomp filter, assembled here: system calls that no submission needs are refused with EPERM.

The player puts it on itself before it imports anything of the submission; it cannot be taken off again and
holds for every process that is started later.
"""

from __future__ import annotations

import ctypes
import errno
import platform
import struct
import sys

# Number on x86-64, number on aarch64 (-1: has none).
REFUSED = {
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271),
    "kcmp": (312, 272), "pidfd_getfd": (438, 438), "perf_event_open": (298, 241), "bpf": (321, 280),
    "userfaultfd": (323, 282), "keyctl": (250, 219), "add_key": (248, 217), "request_key": (249, 218),
    "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41), "chroot": (161, 51),
    "open_tree": (428, 428), "move_mount": (429, 429), "fsopen": (430, 430), "fsconfig": (431, 431),
    "fsmount": (432, 432), "fspick": (433, 433), "mount_setattr": (442, 442), "fanotify_init": (300, 262),
    "unshare": (272, 97), "setns": (308, 268), "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "kexec_load": (246, 104), "kexec_file_load": (320, 294), "init_module": (175, 105),
    "finit_module": (313, 273), "delete_module": (176, 106), "reboot": (169, 142), "swapon": (167, 224),
    "swapoff": (168, 225), "acct": (163, 89), "quotactl": (179, 60), "quotactl_fd": (443, 443),
    "syslog": (103, 116), "settimeofday": (164, 170), "clock_settime": (227, 112), "adjtimex": (159, 171),
    "clock_adjtime": (305, 266), "sethostname": (170, 161), "setdomainname": (171, 162), "vhangup": (153, 58),
    "iopl": (172, -1), "ioperm": (173, -1), "modify_ldt": (154, -1),
    "shmget": (29, 194), "msgget": (68, 186), "semget": (64, 190),
}  # fmt: skip
# A C library falls back when these "do not exist"; their arguments lie in memory, where a filter cannot look.
ABSENT = {
    "clone3": (435, 435), "io_uring_setup": (425, 425), "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
}  # fmt: skip
# Memory that belongs to no process escapes the watcher; on a GPU the driver may want it.
MEMORY_FILES = {"memfd_create": (319, 279), "memfd_secret": (447, 447)}
# Only without namespaces of its own: no network, and nobody leaves the group that is killed at the end.
NETWORK = {"socket": (41, 198)}
LEAVING = {"setsid": (112, 157), "setpgid": (109, 154)}
CLONE = (56, 220)
ARCH = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
NEW_NAMESPACES = 0x7E020000  # CLONE_NEW*: user, pid, net, ipc, uts, mount, cgroup

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _ERRNO, _KILL = 0x7FFF0000, 0x00050000, 0x80000000
_NUMBER, _ARCH, _FIRST_ARGUMENT = 0, 4, 16


def trouble() -> str:
    """Why there can be no filter here, in a clause; "" when there can."""
    if not sys.platform.startswith("linux"):
        return "seccomp is for Linux only"
    if platform.machine() not in ARCH:
        return f"no filter has been written for {platform.machine()}"
    return ""


def program(machine: str, *, memory_files: bool, namespaces: bool, may_leave: bool) -> bytes:
    """The filter as BPF. ``namespaces``: the player has its own, so network and sessions need no refusal."""
    column, arch = ARCH[machine]
    refused = REFUSED | ({} if memory_files else MEMORY_FILES) | ({} if namespaces else NETWORK)
    refused |= {} if namespaces or may_leave else LEAVING
    refuse, absent = _ERRNO | errno.EPERM, _ERRNO | errno.ENOSYS
    code = [_do(_LOAD, _ARCH), _do(_EQUAL, arch, 1, 0), _do(_RETURN, _KILL), _do(_LOAD, _NUMBER)]
    if machine == "x86_64":  # the x32 calls, which have numbers of their own
        code += [_do(_AT_LEAST, 0x40000000, 0, 1), _do(_RETURN, absent)]
    for numbers, result in ((refused, refuse), (ABSENT, absent)):
        for number in (pair[column] for pair in numbers.values() if pair[column] >= 0):
            code += [_do(_EQUAL, number, 0, 1), _do(_RETURN, result)]
    code += [_do(_EQUAL, CLONE[column], 0, 3), _do(_LOAD, _FIRST_ARGUMENT)]
    code += [_do(_ANY_BIT, NEW_NAMESPACES, 0, 1), _do(_RETURN, refuse), _do(_RETURN, _ALLOW)]
    return b"".join(code)


def apply(*, memory_files: bool, namespaces: bool, may_leave: bool) -> None:
    """Put the filter on this process, for good; OSError when the kernel will not."""
    code = program(platform.machine(), memory_files=memory_files, namespaces=namespaces, may_leave=may_leave)
    buffer = ctypes.create_string_buffer(code, len(code))
    header = struct.pack("HxxxxxxP", len(code) // 8, ctypes.addressof(buffer))
    libc = ctypes.CDLL(None, use_errno=True)
    no_new_privileges, set_filter, by_program = 38, 22, 2
    if libc.prctl(no_new_privileges, 1, 0, 0, 0) or libc.prctl(set_filter, by_program, header, 0, 0):
        raise OSError(ctypes.get_errno(), "seccomp")


def _do(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("HBBI", code, if_true, if_false, value)
