"""printf's formats: arguments in device code's layout, compared with C's output."""

from __future__ import annotations

import struct

import pytest

from grader.emulator.run.formatting import Arguments, format_text

STRINGS = {0x1000: b"text\0", 0x2000: b"\0"}


def formatted(template: str, layout: str, *values: float) -> str:
    """The template with arguments of a struct format, aligned as C aligns them."""
    memory = struct.pack("@" + layout, *values)

    def read(address: int, size: int) -> bytes:
        for start, text in STRINGS.items():
            if start <= address < start + len(text):
                return text[address - start :][:size]
        return memory[address : address + size]

    return format_text(template, Arguments(read, 0), read)


@pytest.mark.parametrize(
    ("template", "layout", "values", "expected"),
    [
        ("plain 100%%", "", (), "plain 100%"),
        ("%d %i %u", "iiI", (-1, 7, 4294967295), "-1 7 4294967295"),
        ("%5d|%-5d|%05d|%+d", "iiii", (42, 42, 42, 42), "   42|42   |00042|+42"),
        ("%x %X %#x %o %#o", "IIIII", (255, 255, 255, 8, 8), "ff FF 0xff 10 010"),
        ("%ld %llu %lx", "qQQ", (-1 << 40, 1 << 63, 1 << 40), f"{-1 << 40} {1 << 63} 10000000000"),
        ("%hd %hhu", "iI", (65535, 257), "-1 1"),
        (
            "%f %.2f %10.3e %g",
            "dddd",
            (1.5, 2.345, 12345.678, 1e-10),
            "1.500000 2.35  1.235e+04 1e-10",
        ),
        ("%c%c", "ii", (72, 105), "Hi"),
        (
            "[%s] [%6s] [%.2s] [%s]",
            "QQQQ",
            (0x1000, 0x1000, 0x1000, 0x2000),
            "[text] [  text] [te] []",
        ),
        ("%s %p %p", "QQQ", (0, 0, 0x7F00), "(null) (nil) 0x7f00"),
        ("%*d %.*f", "iiid", (6, 42, 1, 2.25), "    42 2.2"),
        ("%d %f", "id", (1, 2.0), "1 2.000000"),
        ("%y", "", (), "%y"),
    ],
)
def test_formats_as_c_does(
    template: str, layout: str, values: tuple[float, ...], expected: str
) -> None:
    assert formatted(template, layout, *values) == expected
