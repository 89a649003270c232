"""A launch line finds its kernel, however the demangler prints the name.

The names of `KERNELS` are those that c++filt prints for a cubin of nvcc 13, less parameters and
return type.
"""

from __future__ import annotations

import pytest

from grader.cpp.cursor import LanguageError
from grader.messages.hidden import describe_mistake
from grader.records import Kernel, KernelParameter
from grader.spec.launch_lines import KernelName, parse_launch
from grader.submission.names import find_kernel, normalise_text
from grader.submission.plan import launch_mistake
from grader.submission.scope import Scope

KERNELS = [
    "naive",
    "ns::k<float, true, 32u, (Mode)0, (char)97>",
    "ns::k<double, false, 7u, (Mode)1, (char)98>",
    "tile<32, 8>",
    "tile<16, 8>",
    "tile<16, (bool)1>",
    "only<-3, float const*>",
    "(anonymous namespace)::anon",
    "a::same",
    "b::same",
    "b::other",
    "typed<unsigned int>",
    "typed<std::pair<int, float> >",
    "both",
    "both<1>",
    "räume::𝐟k<Maß>",
    "d$::k$1",
]
VALUES = {"TILE": 32, "ROWS": 8}


def make_kernel(name: str) -> Kernel:
    return Kernel(f"symbol of {name}", name, (), 0x210, 32, 0, 0, None, ())


def find(written: str, source: str = "", names: list[str] | None = None) -> str:
    kernels = [make_kernel(name) for name in (KERNELS if names is None else names)]
    wanted = parse_launch(f"{written}<<<1, 1>>>()", line=4, column=12).kernel
    return choose(wanted, kernels, source=source).name


def choose(
    wanted: KernelName, kernels: list[Kernel], *, argument_count: int = 0, source: str = ""
) -> Kernel:
    scope = Scope(constants=VALUES, sizes={}, source=source)
    return find_kernel(wanted, kernels, scope, argument_count=argument_count)


@pytest.mark.parametrize(
    ("written", "found"),
    [
        ("naive", "naive"),
        ("::naive", "naive"),
        ("tile<32, 8>", "tile<32, 8>"),
        ("tile<TILE, ROWS>", "tile<32, 8>"),
        ("tile<TILE / 2, 0x8>", "tile<16, 8>"),
        ("tile<16, true>", "tile<16, (bool)1>"),
        ("tile<32>", "tile<32, 8>"),
        ("only", "only<-3, float const*>"),
        ("only<>", "only<-3, float const*>"),
        ("only<-3>", "only<-3, float const*>"),
        ("only<-3, const float *>", "only<-3, float const*>"),
        ("only<-3, float const*>", "only<-3, float const*>"),
        ("ns::k<float, true, 32>", "ns::k<float, true, 32u, (Mode)0, (char)97>"),
        ("k<double>", "ns::k<double, false, 7u, (Mode)1, (char)98>"),
        ("k<double, false, ROWS - 1, 1, 98>", "ns::k<double, false, 7u, (Mode)1, (char)98>"),
        ("anon", "(anonymous namespace)::anon"),
        ("other", "b::other"),
        ("a::same", "a::same"),
        ("typed<uint32_t>", "typed<unsigned int>"),
        ("typed<unsigned>", "typed<unsigned int>"),
        ("typed<std::pair<int,float>>", "typed<std::pair<int, float> >"),
        ("both", "both"),
        ("both<1>", "both<1>"),
        ("räume::𝐟k<Maß>", "räume::𝐟k<Maß>"),
        (r"r\u00e4ume::\U0001D41Fk", "räume::𝐟k<Maß>"),
        ("d$::k$1", "d$::k$1"),
    ],
)
def test_kernel_is_found(written: str, found: str) -> None:
    assert find(written) == found


@pytest.mark.parametrize(
    ("written", "message", "advice"),
    [
        (
            "naiv",
            "there is no kernel 'naiv'; did you mean 'naive'?",
            "The file's kernels are: naive, ",
        ),
        ("othr", "there is no kernel 'othr'; did you mean 'b::other'?", "The file's kernels are"),
        (
            "wrong::naive",
            "there is no kernel 'wrong::naive'; did you mean 'naive'?",
            "The file's kernels are",
        ),
        ("xyz", "there is no kernel 'xyz'", "The file's kernels are: "),
        ("same", "'same' may be any of a::same, b::same", "Write the whole name"),
        (
            "tile",
            "'tile' may be any of tile<32, 8>, tile<16, 8>, tile<16, (bool)1>",
            "Write the whole name",
        ),
        (
            "tile<16>",
            "'tile<16>' may be any of tile<16, 8>, tile<16, (bool)1>",
            "Write the whole name",
        ),
        (
            "tile<TILE, 4>",
            "there is no instance tile<32, 4>; the file has tile<32, 8>,",
            "template __global__ void tile<32, 4>(...)",
        ),
        (
            "k<half>",
            "there is no instance k<__half>; the file has ns::k<float,",
            "explicit instantiation",
        ),
        ("naive<3>", "there is no instance naive<3>; the file has naive", ""),
    ],
)
def test_kernel_that_is_not_there(written: str, message: str, advice: str) -> None:
    with pytest.raises(LanguageError) as caught:
        find(written)
    told = describe_mistake(launch_mistake(caught.value, ""))
    assert told.message.startswith(f"line 4, column 12: {message}")
    assert advice in told.advice


def test_file_without_kernels() -> None:
    with pytest.raises(LanguageError) as caught:
        find("k", names=[])
    assert "The file has no kernel" in caught.value.advice


@pytest.mark.parametrize(
    "source",
    [
        "template <int T>\n__global__ void lone(float* out) { }",
        "template<typename T, int N = 3> __global__ void __launch_bounds__(256)\n  lone (T* out);",
    ],
)
def test_template_without_an_instance(source: str) -> None:
    with pytest.raises(LanguageError) as caught:
        find("lone<32>", source)
    assert caught.value.message == "'lone' is a template without an instance"
    assert "template __global__ void lone<32>(...);" in caught.value.advice


@pytest.mark.parametrize(
    "source",
    [
        (
            "template <int T> __device__ int other() { return 1; }\n__global__ void lone(float*"
            " out) { }"
        ),
        "void f() { lone(1); }",
    ],
)
def test_what_is_no_template_is_not_called_one(source: str) -> None:
    with pytest.raises(LanguageError, match="there is no kernel 'lone'"):
        find("lone", source)


def test_long_lists_of_kernels_are_cut() -> None:
    with pytest.raises(LanguageError) as caught:
        find("xyz", names=[f"kernel_number_{n}" for n in range(500)])
    assert caught.value.advice.endswith("and 488 more.")


OVERLOADS = [
    Kernel(
        f"symbol {types}",
        "k",
        tuple(KernelParameter(0, 4, type) for type in types),
        0x210,
        32,
        0,
        0,
        None,
        (),
    )
    for types in (("float*", "int"), ("float*",), ("float*", "long"))
]


def test_the_number_of_arguments_chooses_the_overload() -> None:
    wanted = parse_launch("k<<<1, 1>>>(a)").kernel
    assert choose(wanted, OVERLOADS, argument_count=1) is OVERLOADS[1]


@pytest.mark.parametrize("count", [2, 3])
def test_overloads_that_it_cannot_tell_apart_are_shown_with_their_parameters(count: int) -> None:
    with pytest.raises(LanguageError) as caught:
        choose(parse_launch("k<<<1, 1>>>(a, b)").kernel, OVERLOADS, argument_count=count)
    assert (
        caught.value.message
        == f"'k' with {count} arguments may be any of k(float*, int), k(float*), k(float*, long)"
    )


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("32u", 32),
        ("-3", -3),
        ("(bool)1", 1),
        ("(ns::Mode)2", 2),
        ("true", 1),
        ("false", 0),
        ("8ull", 8),
        (" float  const * ", "float const*"),
        ("const float*", "float const*"),
        ("long unsigned int", "unsigned long"),
        ("volatile const int", "int const volatile"),
        ("ns::S", "ns::S"),
        ("float [ 3 ]", "float[3]"),
    ],
)
def test_normal_form(text: str, normal: int | str) -> None:
    assert normalise_text(text) == normal
