"""Converts records to JSON values and back, by cattrs, for the cache and for messages between the
grader's processes.

Structuring collects the exceptions of the fields' constructors. It refuses keys that a record does
not have.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from functools import cache
from typing import TYPE_CHECKING

from grader.records import Dim3, Mode, Stop

if TYPE_CHECKING:
    from cattrs import Converter


@cache
def converter() -> Converter:
    """The converter of all records. Callers must not register hooks: see `make_converter`."""
    return make_converter()


def make_converter() -> Converter:
    """A converter of all records, to which hooks may be added."""
    from cattrs.preconf.json import make_converter
    from cattrs.strategies import configure_tagged_union

    made = make_converter(forbid_extra_keys=True)
    configure_tagged_union(Mode, made)
    configure_tagged_union(Stop, made)
    plain, parse = made.get_unstructure_hook(Stop), made.get_structure_hook(Stop)
    made.register_unstructure_hook(Stop | None, lambda stop: None if stop is None else plain(stop))
    made.register_structure_hook(
        Stop | None, lambda value, _: None if value is None else parse(value, Stop)
    )
    made.register_structure_hook(Dim3, _structure_dim3)
    # cattrs's base85 takes 0.1 s for the machine code of a product on tensor cores
    made.register_unstructure_hook(bytes, lambda data: b64encode(data).decode())
    made.register_structure_hook(bytes, lambda text, _: b64decode(text, validate=True))
    return made


def _structure_dim3(value: object, _: object) -> Dim3:
    match value:
        case [int(x), int(y), int(z)]:
            return Dim3(x, y, z)
    raise ValueError("not three integers")
