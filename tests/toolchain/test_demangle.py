"""Demangled text to the names that a launch line writes."""

import pytest

from grader.sandbox.process import run_tool
from grader.toolchain.demangle import Signature, demangle, parse_signature


@pytest.mark.parametrize(
    ("text", "name", "types"),
    [
        ("transpose", "transpose", None),
        ("transpose()", "transpose", ()),
        (
            "transpose(float*, float const*, int, int)",
            "transpose",
            ("float*", "float const*", "int", "int"),
        ),
        ("ns::inner::k(unsigned long)", "ns::inner::k", ("unsigned long",)),
        ("void k<32, 8>(float*, int)", "k<32, 8>", ("float*", "int")),
        ("void k<32u, -1l, true, float>(float*)", "k<32, -1, true, float>", ("float*",)),
        (
            "void ns::k<ns::A<int, 4ul>, unsigned int>(ns::A<int, 4ul>*)",
            "ns::k<ns::A<int, 4>, unsigned int>",
            ("ns::A<int, 4ul>*",),
        ),
        ("k(int (*)(float, int), int (&) [7])", "k", ("int (*)(float, int)", "int (&) [7]")),
        ("std::enable_if<((7u)>(2)), void>::type k<float, 7u>(float*)", "k<float, 7>", ("float*",)),
        ("std::enable_if<((7u)<(9)), void>::type k<float, 7u>(float*)", "k<float, 7>", ("float*",)),
        ("(anonymous namespace)::k(float*)", "k", ("float*",)),
        ("k((anonymous namespace)::Pair)", "k", ("(anonymous namespace)::Pair",)),
    ],
)
def test_names_and_types(text: str, name: str, types: tuple[str, ...] | None) -> None:
    assert parse_signature(text) == Signature(name, types)


def test_letters_outside_ascii_are_those_of_the_source() -> None:
    symbol = "_ZN10r_u00e4ume1mENS_15Gr_u00f6_u00dfeEPf"
    assert demangle([symbol], run_tool) == {symbol: "räume::m(räume::Größe, float*)"}


def test_all_symbols_in_one_call() -> None:
    symbols = ["_Z5t_padPfPKfii", "plain", "_ZN2ns1kILi32ELb1EfEEvPT1_"]
    assert demangle(symbols, run_tool) == {
        "_Z5t_padPfPKfii": "t_pad(float*, float const*, int, int)",
        "plain": "plain",
        "_ZN2ns1kILi32ELb1EfEEvPT1_": "void ns::k<32, true, float>(float*)",
    }


def test_no_symbols_need_no_tool() -> None:
    assert demangle([], run_tool) == {}
