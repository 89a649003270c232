"""The buffers of a plan on the GPU: one allocation with guard bands, which the host fills, copies
and inspects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pycuda.driver as cuda

from grader.devices.base import Arrays
from grader.devices.gpu.driver import find_driver
from grader.devices.gpu.own_kernels import OwnKernels
from grader.devices.gpu.placement import GUARD_WORD, Damage, find_damage, place_buffers
from grader.devices.gpu.texture_objects import TextureObjects, tensor_maps
from grader.devices.parameter_space import handle_bytes
from grader.records import POISON_WORD, DeviceBuffer, Role


class Arena:
    """An allocation with these buffers between guard bands. Raises PyCUDA's MemoryError when it
    does not fit the GPU.

    `addresses` are the starts of the buffers. Freed by `free`, or with the object.
    """

    def __init__(self, buffers: Sequence[DeviceBuffer]) -> None:
        self.buffers = tuple(buffers)
        self.placement = place_buffers(buffers)
        self._memory = cuda.mem_alloc(self.placement.size_bytes)
        base = int(self._memory)
        self.addresses = {place.name: base + place.offset for place in self.placement.places}
        self._sizes = {place.name: place.size_bytes for place in self.placement.places}
        cuda.memset_d32(base, GUARD_WORD, self.placement.size_bytes // 4)
        self._objects = TextureObjects((), {}, find_driver())

    def free(self) -> None:
        self._objects.free()
        self._memory.free()

    @property
    def objects(self) -> Mapping[str, bytes]:
        """The kernel arguments of texture objects and tensor maps, by their buffers' names."""
        maps = tensor_maps(self.buffers, self.addresses, find_driver())
        return handle_bytes(self._objects.handles) | maps

    def names(self, role: Role) -> list[str]:
        """The buffers with a role."""
        return [buffer.name for buffer in self.buffers if buffer.role is role]

    def fill(self, arrays: Arrays) -> None:
        """Upload these contents, and poison all other buffers."""
        self.upload(arrays)
        self.poison([buffer.name for buffer in self.buffers if buffer.name not in arrays])

    def upload(self, arrays: Arrays) -> None:
        """Copy these contents to the buffers with their names, and bind the textures among them.
        Raises GraderError where a texture cannot be bound."""
        for name, array in arrays.items():
            if array.nbytes:
                cuda.memcpy_htod(self.addresses[name], np.ascontiguousarray(array))
        self._objects.free()
        self._objects = TextureObjects(self.buffers, self.addresses, find_driver())

    def download(self, buffer: DeviceBuffer) -> np.ndarray:
        contents = np.empty(buffer.shape, dtype=buffer.dtype)
        if contents.nbytes:
            cuda.memcpy_dtoh(contents, self.addresses[buffer.name])
        return contents

    def outputs(self) -> Arrays:
        """The contents of the outputs."""
        outputs = (buffer for buffer in self.buffers if buffer.role is Role.OUTPUT)
        return {buffer.name: self.download(buffer) for buffer in outputs}

    def poison(self, names: Sequence[str]) -> None:
        """Fill these buffers with the poison, asynchronously."""
        for name in names:
            address, size_bytes = self.addresses[name], self._sizes[name]
            if size_bytes >= 4:
                cuda.memset_d32_async(address, POISON_WORD, size_bytes // 4)
            for position in range(size_bytes // 4 * 4, size_bytes):
                cuda.memset_d8_async(
                    address + position, POISON_WORD >> 8 * (position % 4) & 0xFF, 1
                )

    def digests(self, names: Sequence[str], own: OwnKernels) -> tuple[int, ...]:
        """A digest of each of these buffers; waits for all work on the GPU. Guard bytes fill the
        last word of a buffer whose size is not a multiple of a word."""
        return tuple(own.digest(self.addresses[name], self._sizes[name]) for name in names)

    def modified_inputs(self, before: Sequence[int], own: OwnKernels) -> list[str]:
        """The inputs whose digests differ from these."""
        inputs = self.names(Role.INPUT)
        after = self.digests(inputs, own)
        return [name for name, old, new in zip(inputs, before, after, strict=True) if old != new]

    def find_damage(self) -> Damage | None:
        """The first changed guard byte; waits for all work on the GPU."""
        return find_damage(self.placement, self._read)

    def _read(self, offset: int, size_bytes: int) -> np.ndarray:
        contents = np.empty(size_bytes, dtype=np.uint8)
        cuda.memcpy_dtoh(contents, int(self._memory) + offset)
        return contents
