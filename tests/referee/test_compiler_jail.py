"""The compiler's cage: text that reads files, runs on or says too much fails to compile, in time."""

import contextlib
import time
from pathlib import Path

import pytest

from grader.backends.simt.compile.toolchain import BuildTimeout, CompilerFailed
from grader.referee.sandbox import bubblewrap, compiler_jail

ENDLESS = "constexpr long f(long n) { long s = 0; for (long i = 0; i < n; ++i) s += i; return s; }\n"
HOSTILE = {
    "an include": '#include "/etc/passwd"\n',
    "an include of ours": f'#include "{Path(__file__).resolve()}"\n',
    "assembly": 'asm(".incbin \\"/etc/passwd\\"");\n',
    "templates": "template <int N> struct A { A<N + 1> a; A<N + 2> b; }; A<0> x;\n",
    "arithmetic": ENDLESS + "static_assert(f(1L << 60) == 1);\n",
    "a huge array": "char a[1L << 36] = {1};\n",
    "a huge section": 'asm(".rept 1000000000000\\n.byte 1\\n.endr");\n',
    "many errors": "".join(f"int x{i} = y{i};\n" for i in range(2_000)),
}


@pytest.mark.parametrize("without", ["", "not here"], ids=["bubblewrap", "landlock"])
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_fails_to_compile(
    name: str, without: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not without and bubblewrap.trouble():
        pytest.skip("no bubblewrap here")
    if without:
        monkeypatch.setattr(bubblewrap, "trouble", lambda: without)
    source = tmp_path / "source.cpp"
    source.write_text(HOSTILE[name])
    begun = time.monotonic()
    with pytest.raises((CompilerFailed, BuildTimeout)) as failure:
        compiler_jail.compile_(["-c", str(source), "-o", str(tmp_path / "out.o")], 15.0, tmp_path)
    assert time.monotonic() - begun < 40
    assert len(str(failure.value)) <= compiler_jail.MAX_OUTPUT_BYTES
    assert "root:" not in str(failure.value) and "HOSTILE" not in str(failure.value)


def test_honest_text_compiles_and_nothing_else_is_written(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    source = home / "source.cpp"
    source.write_text("#include <vector>\nint f() { return std::vector<int>(3).size(); }\n")
    compiler_jail.compile_(["-c", str(source), "-o", str(home / "out.o")], 60.0, home)
    assert sorted(p.name for p in home.iterdir()) == ["out.o", "source.cpp"]
    # Outside of its folder a compiler writes nowhere, or to a /tmp that is gone with it.
    with contextlib.suppress(CompilerFailed):
        compiler_jail.compile_(["-c", str(source), "-o", str(tmp_path / "elsewhere.o")], 60.0, home)
    assert [p.name for p in tmp_path.iterdir()] == ["home"]
