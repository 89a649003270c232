"""Textures and surfaces: TEX, TLD, TLD4 and TXD read through a texture unit, SULD and SUST access
the elements of a surface. The runtime finds the texels (cpp/memory/textures.cpp).

Textures have a single mipmap level here, so a level of detail has no effect.
"""

from __future__ import annotations

from collections.abc import Sequence

from grader.emulator.codegen.emitter import Emitter
from grader.emulator.codegen.opcodes.known_access import AccessKind, Lanes
from grader.emulator.codegen.opcodes.load_store import access, lane_data, load_words, set_lane_data
from grader.emulator.codegen.opcodes.row import Opcode, row
from grader.emulator.codegen.shapes import BANK_OF_LAUNCH
from grader.emulator.codegen.tools import I32, I64, Value, const, offset
from grader.emulator.isa.decode import Decoded
from grader.emulator.isa.operands import Address, Immediate, Operand, Register, Special
from grader.emulator.layouts.textures import SurfaceForm, TextureForm
from grader.emulator.timing.pipes import (
    SURFACE_LOAD,
    SURFACE_STORE,
    TEXTURE,
    TEXTURE_FETCH,
)

_KINDS = {
    "1D": 1,
    "2D": 2,
    "3D": 3,
    "ARRAY_1D": 1 | TextureForm.ARRAY,
    "ARRAY_2D": 2 | TextureForm.ARRAY,
    "CUBE": 3 | TextureForm.CUBE,
    "ARRAY_CUBE": 3 | TextureForm.ARRAY | TextureForm.CUBE,
}
_SURFACES = {"1D": 1, "2D": 2, "3D": 3, "2D_ARRAY": 2 | SurfaceForm.ARRAY}
_COMPONENTS = "RGBA"
_ALL_CHANNELS = 0xF


def sample(e: Emitter, i: Decoded) -> None:
    """d = a texture at coordinates: the nearest texel, or a blend of its neighbours with 8-bit
    weights."""
    _read(e, i, sources=2 if i.has("LL") else 1)


def sample_with_derivatives(e: Emitter, i: Decoded) -> None:
    """d = a texture at coordinates; the derivatives for the choice of a level have no effect."""
    _read(e, i, sources=2)


def fetch(e: Emitter, i: Decoded) -> None:
    """d = a texel of linear memory, by its index (`tex1Dfetch`)."""
    if not i.has("LZ"):
        raise e.unsupported()
    _read(e, i, sources=1, form=TextureForm.FETCH)


def gather(e: Emitter, i: Decoded) -> None:
    """d = a component, `.R` to `.A`, of the four texels that a blend would use
    (`tex2Dgather`)."""
    component = next((at for at, name in enumerate(_COMPONENTS) if i.has(name)), None)
    if component is None:
        raise e.unsupported()
    form = TextureForm.GATHER | component << TextureForm.COMPONENT_SHIFT
    _read(e, i, sources=2 if i.has("SCR") else 1, form=form)


def _read(e: Emitter, i: Decoded, *, sources: int, form: int = 0) -> None:
    """Reads a texture. In consecutive registers are the layer of a layered texture, then the
    coordinates; with `.SCR`, the first registers hold two of them (for a gather one), and those of
    the second operand hold the others."""
    mask = i.operands[-1]
    *registers, last = i.operands[:-1] if isinstance(mask, Immediate) else i.operands
    channels = mask.integer() if isinstance(mask, Immediate) else _ALL_CHANNELS
    count = 2 + sources
    named, handle = registers[:count], registers[count:]
    if len(named) != count or not isinstance(last, Special) or last.name not in _KINDS:
        raise e.unsupported("with these operands")
    plain = [each for each in named if isinstance(each, Register) and not each.uniform]
    if len(plain) != count:
        raise e.unsupported("with these operands")
    object_ = _handle(e, handle)
    upper, lower, *places = plain
    form |= _KINDS[last.name]
    axes = (form & TextureForm.DIMENSIONS) + bool(form & TextureForm.ARRAY)
    scattered = 1 if form & TextureForm.GATHER else 2
    together = scattered if i.has("SCR") else axes
    words = [e.register_or_zero(places[at // together], at % together) for at in range(axes)]
    set_lane_data(e, words)
    facts = (e.context_pointer, e.warp_pointer, e.index, e.lane_mask(), object_)
    e.try_call("read_texture", *facts, const(form), const(channels))
    found = lane_data(e, channels.bit_count())
    e.set_words(lower, found[:2])
    e.set_words(upper, found[2:])


def _handle(e: Emitter, operands: Sequence[Operand]) -> Value:
    """The lower word of an object's handle: in a uniform register that a zero follows, or in
    constant bank 0, at an index in words."""
    match operands:
        case [Register(uniform=True) as register, *zeros] if all(
            isinstance(each, Immediate) and each.integer() == 0 for each in zeros
        ):
            return e.scalar_i32(register)
        case [Immediate() as bank, Immediate() as word] if bank.integer() == BANK_OF_LAUNCH:
            place = e.b.zext(e.data("object", word.integer()), I64)
            return e.b.load(offset(e.b, e.context.load_pointer("constants"), place), typ=I32)
    raise e.unsupported("with this object")


# --- surfaces -------------------------------------------------------------------------------------


def load_surface(e: Emitter, i: Decoded) -> None:
    """d = the bytes of a surface from x on; x is in bytes (`surf2Dread`)."""
    target, address, *handle = i.operands
    kind, lanes = _locate(e, i, address, handle, load=True)
    if not isinstance(target, Register):
        raise e.unsupported("with this destination")
    here = e.lanes_of(lanes.mask)
    words = load_words(e, i, kind, lanes, signed=i.has("S8") or i.has("S16"), slot=_SLOT)
    e.set_words(target, [e.b.select(here, word, e.const(0)) for word in words])


def store_surface(e: Emitter, i: Decoded) -> None:
    """The bytes of a surface from x on = d (`surf2Dwrite`)."""
    address, source, *handle = i.operands
    plain = e.plain_register(source, "with this source")
    kind, lanes = _locate(e, i, address, handle, load=False)
    set_lane_data(e, e.data_words(plain, kind.words))
    access(e, i, kind, lanes, slot=_SLOT)


_SLOT = "surface"
"""Nsight Compute does not count surface accesses as loads and stores of global memory. The runtime
traces them when it locates their elements."""


def _locate(
    e: Emitter, i: Decoded, address: Operand, handle: Sequence[Operand], *, load: bool
) -> tuple[AccessKind, Lanes]:
    """The access to the buffer with a surface's elements, by the lanes that reach the surface."""
    form = next((form for name, form in _SURFACES.items() if i.has(name)), None)
    if (
        not isinstance(address, Address)
        or address.register is None
        or address.uniform is not None
        or form is None
        or not (i.has("D") and i.has("BA"))
    ):
        raise e.unsupported("with these operands")
    e.require("no offset", i.operands.index(address))
    form |= SurfaceForm.TRAP * i.has("TRAP") | SurfaceForm.IGNORE * i.has("IGN")
    count = (form & SurfaceForm.DIMENSIONS) + bool(form & SurfaceForm.ARRAY)
    set_lane_data(e, e.data_words(Register(address.register.index), count))
    facts = (e.context_pointer, e.warp_pointer, e.index, e.lane_mask(), _handle(e, handle))
    e.try_call("locate_surface", *facts, const(form), const(i.access_bytes), const(int(load)))
    low, inside = lane_data(e, 2)
    mask = e.b.extract_element(inside, const(0))
    high = e.splat(e.context.load("global_window"))
    kind = AccessKind("global", load=load, width=i.access_bytes)
    return kind, Lanes(low, high, mask)


_FORMS = "D BA 1D 2D 3D 2D_ARRAY U8 S8 U16 S16 64 128 STRONG WEAK CTA SM GPU SYS TRAP IGN"

TEXTURES: dict[str, Opcode] = {
    "TEX": row(sample, "LL LZ SCR", pipe=TEXTURE),
    "TXD": row(sample_with_derivatives, pipe=TEXTURE),
    "TLD": row(fetch, "LZ SCR", pipe=TEXTURE_FETCH),
    "TLD4": row(gather, "R G B A SCR", pipe=TEXTURE),
    "SULD": row(load_surface, _FORMS, pipe=SURFACE_LOAD),
    "SUST": row(store_surface, _FORMS, pipe=SURFACE_STORE),
}
