"""The C++ that makes Python functions of the functions named in ``load_inline(functions=[...])``."""

from __future__ import annotations

# g++'s words where a function has a type that bind/binding.h does not know.
NOT_KNOWN = "itf::bind::Convert<"


def plain(name: str, functions: dict[str, str]) -> str:
    """By ``bind/binding.h``, which has to be included before."""
    start = 'extern "C" BIND_API itf::bind::Object* PyInit_'
    # A help text stands between quotes as it is, as in torch: one that breaks a string breaks the build.
    lines = [f'itf::bind::function("{f}", {f}, "{doc}"),\n' for f, doc in functions.items()]
    head = f'#line 1 "bindings"\n{start}{name}() {{ return itf::bind::module("{name}", {{\n'
    return head + "".join(lines) + "}); }\n"


def by_pybind(functions: dict[str, str]) -> str:
    """By pybind11, as torch does it."""
    lines = [f'm.def("{f}", torch::wrap_pybind_function({f}), "{doc}");\n' for f, doc in functions.items()]
    return '#line 1 "bindings"\nPYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {\n' + "".join(lines) + "}\n"
