"""What the assembler's listing of an object file shows of its kernels."""

from pathlib import Path

import pytest

from grader.backends.simt.compile import instrumented
from grader.backends.simt.compile.instrumented import DeviceCode

HEAD = """
 1              \t .file 1 "mine.py"
 2              \t .type _Z6kernelPf, @function
 3              \t_Z6kernelPf:
 4              \t .loc 1 30 5
"""
HEARD = " 5 0000 4889DF   \t movq %rbx,%rdi\n 6 0003 E8000000 \t call __tsan_read4@PLT\n"
READ = " 7 0008 F30F1003 \t movss (%rbx),%xmm0\n"
HELPER = " 8 000a E8000000 \t call _Z6helperPf\n 9 \t .type _Z6helperPf, @function\n 10 \t_Z6helperPf:\n 11 \t .loc 1 12 3\n"


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (HEARD + READ, None),
        (READ, ("memory is read", 30)),
        (READ + " 8 000a E8 \t call __ubsan_handle_add_overflow@PLT\n", None),  # once more, to be told
        (READ + " 8 000a E8 \t jmp .L3\n 9 \t call __ubsan_handle_add_overflow\n", ("memory is read", 30)),
        (HEARD + READ + HELPER + READ, ("memory is read", 12)),
        (HEARD + READ + HELPER + HEARD + READ, None),
        (" 5 0000 8B07 \t movl 8(%rsp),%eax\n 6 0001 8B \t movss .LC1(%rip),%xmm0\n", None),
        (" 5 0000 8B07 \t leaq 16(%rsp),%rbx\n 6 0001 8B \t movq %rbx,%rbp\n 7 \t movl (%rbp),%eax\n", None),
        (" 5 0000 8B07 \t movl %fs:36(%rdx),%eax\n 6 0001 E8 \t call expf@PLT\n", None),
        (" 5 0000 E8 \t call memchr@PLT\n", ("a kernel calls memchr", 30)),
        (
            " 5 0000 E8 \t call malloc@PLT\n 6 \t call _Znam@PLT\n 7 \t call _ZdaPv@PLT\n 8 \t call free@PLT\n",
            None,
        ),
        (
            ' 5 \t .file 2 "/usr/include/c++/12/bits/new_allocator.h"\n 6 \t .loc 2 137 9\n 7 0000 E8 \t call _Znwm@PLT\n',
            ("a kernel calls std::allocator", 0),
        ),
        (" 5 0000 E8 \t jmp _Z6hiddenPKfl@PLT\n", ("a kernel calls hidden", 30)),
        (
            " 5 0000 E8 \t movq _ZTIi@GOTPCREL(%rip),%rax\n",
            ("a kernel throws an exception or asks for a type", 30),
        ),
        (" 5 0000 E8 \t movq strlen@GOTPCREL(%rip),%rax\n", ("a kernel calls strlen", 30)),
    ],
)
def test_a_function_that_a_kernel_reaches_tells_the_runtime(
    tmp_path: Path, body: str, said: tuple[str, int] | None
) -> None:
    listing = tmp_path / "listing.s"
    listing.write_text(HEAD + body)
    found = instrumented.unheard(listing, DeviceCode(("kernel",)))
    if said is None:
        assert found is None
    else:
        assert found is not None and found[0].startswith(said[0]) and found[2] == said[1]
    assert instrumented.unheard(listing, DeviceCode(("another",))) is None


def test_the_host_function_of_a_kernels_name_is_the_one_that_launches(tmp_path: Path) -> None:
    host = " 1 \t.type _Z6kernelPfi, @function\n 2 \t_Z6kernelPfi:\n 3 \t.loc 1 50 5\n{} 5 0000 E8 \t call exit@PLT\n"
    launch = " 4 0000 E8 \t call _ZN4simt6launchIPFvPfEJS1_EEEvRKNS_10LaunchSiteE\n"
    listing = tmp_path / "listing.s"
    listing.write_text(HEAD + HEARD + READ + host.format(launch))
    assert instrumented.unheard(listing, DeviceCode(("kernel",))) is None
    listing.write_text(HEAD + HEARD + READ + host.format(""))
    found = instrumented.unheard(listing, DeviceCode(("kernel",)))
    assert found is not None and "calls exit" in found[0]
    listing.write_text(
        HEAD + HEARD + READ + launch + " 5 0000 E8 \t call exit@PLT\n"
    )  # the only one of its name
    found = instrumented.unheard(listing, DeviceCode(("kernel",)))
    assert found is not None and "is no device code" in found[0]


NAMES = [
    ("_Z6kernelPf", True),
    ("_Z6kerneliPf", True),  # whatever its first parameter is
    ("_Z6kernelv", True),
    ("_ZL6kernelPf", True),
    ("_ZN2ns6kernelEPf", True),
    ("_ZN12_GLOBAL__N_16kernelEi", True),
    ("_Z6kernelIfEviPT_", True),
    ("kernel", True),  # extern "C"
    ("_Z6kerneliPf.constprop.0", True),
    ("kernels", False),
    ("_Z4host16kernelArgumentsi", False),  # what it takes has a name that ends like a kernel's
    ("_Z12other_kernelPf", False),
]


@pytest.mark.parametrize(("name", "is_kernel"), NAMES)
def test_a_kernel_is_known_by_its_own_name(tmp_path: Path, name: str, *, is_kernel: bool) -> None:
    listing = tmp_path / "listing.s"
    listing.write_text((HEAD + READ).replace("_Z6kernelPf", name))
    assert bool(instrumented.unheard(listing, DeviceCode(("kernel",)))) is is_kernel


def test_the_address_of_a_variable_is_no_call(tmp_path: Path) -> None:
    """Of a template's variable it comes by the linker's table, as that of a function of another object."""
    body = HEARD + " 8 0000 48 \t movq _Z4maskIfE@GOTPCREL(%rip),%rax\n"
    listing = tmp_path / "listing.s"
    listing.write_text(HEAD + body)
    found = instrumented.unheard(listing, DeviceCode(("kernel",)))
    assert found is not None and "calls mask" in found[0]
    for kind in ("object", "gnu_unique_object"):
        listing.write_text(f"{HEAD}{body} 9 \t .type _Z4maskIfE, @{kind}\n")
        assert instrumented.unheard(listing, DeviceCode(("kernel",))) is None
    listing.write_text(f"{HEAD}{body} 9 \t call _Z4maskIfE\n 10 \t .type _Z4maskIfE, @object\n")
    assert instrumented.unheard(listing, DeviceCode(("kernel",))) is not None


@pytest.mark.parametrize(
    "instruction", ["fldt 32(%rsp)", "fmulp %st, %st(1)", "fildll 8(%rsp)", "fstpt (%rax)"]
)
def test_a_wider_number_than_a_gpu_has_is_refused(tmp_path: Path, instruction: str) -> None:
    listing = tmp_path / "listing.s"
    listing.write_text(f"{HEAD}{HEARD} 7 0008 DB6C2420 \t {instruction}\n")
    found = instrumented.unheard(listing, DeviceCode(("kernel",)))
    assert found is not None and "long double" in found[0] and found[2] == 30
    listing.write_text(f"{HEAD} 7 0008 E8 \t call __multf3@PLT\n")
    found = instrumented.unheard(listing, DeviceCode(("kernel",)))
    assert found is not None and found[0].startswith("a kernel calls __multf3")


REMAINDER = "fldl 8(%rsp)|fldl 16(%rsp)|fprem|fnstsw %ax|testb $4,%ah|jne .L2|fstp %st(1)|fstpl 24(%rsp)"


def test_a_remainder_that_the_compiler_writes_out_is_no_wider_number(tmp_path: Path) -> None:
    listing = tmp_path / "listing.s"
    body = "".join(f" 7 0008 DB6C2420 \t {line}\n" for line in REMAINDER.split("|"))
    listing.write_text(HEAD + HEARD + body)
    assert instrumented.unheard(listing, DeviceCode(("kernel",))) is None
    for other in ("faddp %st, %st(1)", "fldt 8(%rsp)", "fildl 8(%rsp)"):
        listing.write_text(f"{HEAD}{HEARD}{body} 8 0008 DB \t {other}\n")
        found = instrumented.unheard(listing, DeviceCode(("kernel",)))
        assert found is not None and "long double" in found[0]
    listing.write_text(HEAD + HEARD + body.replace("fprem", "fxch"))
    assert instrumented.unheard(listing, DeviceCode(("kernel",))) is not None
