"""The helper functions of one module, defined on first use, and the slots of its memory
instructions."""

from __future__ import annotations

from llvmlite import ir

from grader.emulator.native.access import (
    define_check,
    define_check_local,
    define_gather,
    define_move,
)
from grader.emulator.native.counting import AccessKind
from grader.emulator.native.watching import Watching


class Helpers:
    """Defines each access helper once a module. `slots` numbers memory instructions and their
    spaces; a kernel's forms share it.

    `watching` is there in the checked mode only.
    """

    def __init__(
        self, module: ir.Module, slots: dict[tuple[int, str], int], watching: Watching | None = None
    ) -> None:
        self._module = module
        self.watching = watching
        self._checks: dict[AccessKind, ir.Function] = {}
        self._gathers: dict[tuple[int, bool], ir.Function] = {}
        self._moves: dict[tuple[int, bool, bool], ir.Function] = {}
        self.slots = slots

    def check(self, kind: AccessKind) -> ir.Function:
        """See `access.define_check`."""
        if kind not in self._checks:
            local = kind.space == "local"
            watched = self.watching is not None
            self._checks[kind] = (
                define_check_local(self._module, kind)
                if local
                else define_check(self._module, kind, watched=watched)
            )
        return self._checks[kind]

    def move(self, kind: AccessKind, *, signed: bool) -> ir.Function:
        """See `access.define_move`; shared and global memory use the same one."""
        key = (kind.width, kind.load, signed)
        if key not in self._moves:
            self._moves[key] = define_move(self._module, kind.width, load=kind.load, signed=signed)
        return self._moves[key]

    def constant_data(self, data: bytes, name: str) -> ir.Value:
        """The address of constant bytes in the module, made on first use."""
        if name not in self._module.globals:
            kind = ir.ArrayType(ir.IntType(8), len(data))
            variable = ir.GlobalVariable(self._module, kind, name)
            variable.linkage, variable.global_constant, variable.align = "internal", True, 16
            variable.initializer = ir.Constant(kind, bytearray(data))
        return self._module.globals[name]

    def gather(self, width: int, *, signed: bool) -> ir.Function:
        """See `access.define_gather`."""
        key = (width, signed)
        if key not in self._gathers:
            self._gathers[key] = define_gather(self._module, width, signed=signed)
        return self._gathers[key]

    def slot_index(self, instruction: int, space: str) -> int:
        """The slot of a memory instruction, by its index in the kernel, for the accesses to one
        space."""
        return self.slots.setdefault((instruction, space), len(self.slots))
