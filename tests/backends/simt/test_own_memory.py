"""Where the addresses in a compiled function come from."""

from __future__ import annotations

import pytest

from grader.backends.simt.compile.own_memory import accesses_beyond, register

MADE = "leaq 656(%rdx),%rax|addq %rsp,%rax|"
READ = "movl -48(%rcx),%eax"
CASES = {
    "made from the stack's pointer": ("leaq 16(%rsp),%rcx", False),
    "an argument": ("movq %rdi,%rcx", True),
    "an index added to it": (f"{MADE}movq %rax,%rcx", False),
    "kept in a place meanwhile": (f"{MADE}movq %rax,40(%rsp)|movq 40(%rsp),%rcx", False),
    "moved on there": (f"{MADE}movq %rax,40(%rsp)|addq $32,40(%rsp)|movq 40(%rsp),%rcx", False),
    "beside a narrow number": (f"{MADE}movq %rax,40(%rsp)|movl %esi,36(%rsp)|movq 40(%rsp),%rcx", False),
    "under a number": (f"{MADE}movq %rax,40(%rsp)|movl %esi,44(%rsp)|movq 40(%rsp),%rcx", True),
    "under a vector": (f"{MADE}movq %rax,40(%rsp)|movaps %xmm0,32(%rsp)|movq 40(%rsp),%rcx", True),
    "in a part of a register": ("leaq 16(%rsp),%rcx|movb $1,%cl", True),
    "lost in a call": ("leaq 16(%rsp),%rcx|call f", True),
    "kept over a call": ("leaq 16(%rsp),%rbx|call f|movq %rbx,%rcx", False),
    "after the stack has moved": (f"{MADE}movq %rax,40(%rsp)|subq $64,%rsp|movq 40(%rsp),%rcx", True),
    "after something was pushed": (f"{MADE}movq %rax,40(%rsp)|pushq %rdi|movq 40(%rsp),%rcx", True),
    "exchanged": ("leaq 16(%rsp),%rcx|xchgq %rcx,%rdi", True),
    "exchanged with memory": ("leaq 16(%rsp),%rcx|lock xaddq %rcx,(%rsp)", True),
    "a quotient": ("leaq 16(%rsp),%rdx|cqto|idivq %rsi|movq %rdx,%rcx", True),
    "beside a product": ("leaq 16(%rsp),%rcx|imulq %rsi,%rdi", False),
    "popped": ("leaq 16(%rsp),%rcx|popq %rcx", True),
    "on one path alone": ("testl %esi,%esi|je .L1|leaq 16(%rsp),%rcx|.L1:", True),
    "on both paths": ("leaq 8(%rsp),%rcx|testl %esi,%esi|je .L1|leaq 16(%rsp),%rcx|.L1:", False),
    "around a loop": ("leaq 8(%rsp),%rcx|.L1:|addq $8,%rcx|cmpq %rdx,%rcx|jne .L1", False),
    "lost around a loop": ("leaq 8(%rsp),%rcx|.L1:|movl (%rcx),%eax|movq %rdi,%rcx|jmp .L1", True),
    "lost where a table leads": ("leaq 8(%rsp),%rcx|jmp *%rdx|.L1:|movq %rdi,%rcx|jmp .L2|.L2:", True),
    "behind a jump that goes elsewhere": ("leaq 8(%rsp),%rcx|jmp .L1|movq %rdi,%rcx|.L1:", False),
}


@pytest.mark.parametrize("name", CASES)
def test_an_address_is_the_functions_own_if_it_is_on_every_path(name: str) -> None:
    text, beyond = CASES[name]
    lines = [*text.split("|"), READ]
    assert bool(accesses_beyond(lines)) is beyond


def test_what_is_thread_local_or_has_no_address_is_no_access() -> None:
    assert accesses_beyond(["movl %fs:36(%rdx),%eax", "leaq 8(%rdi),%rax", "nopw (%rax)"]) == set()
    assert accesses_beyond(["movl 8(%rsp,%rax,4),%eax", "movss .LC1(%rip),%xmm0"]) == set()
    assert accesses_beyond(["movl (%rdi),%eax", "addl %eax,(%rsi,%rdx,4)"]) == {0, 1}


def test_a_part_of_a_register_is_known_as_the_whole() -> None:
    assert {register(f"%{part}") for part in ("rax", "eax", "ax", "al", "ah")} == {"rax"}
    assert {register(f"%{part}") for part in ("r10", "r10d", "r10w", "r10b")} == {"r10"}
    assert {register(f"%{part}") for part in ("rsi", "esi", "si", "sil")} == {"rsi"}
    assert register("%xmm0") == register("$5") == ""
