"""Grids that synchronise: launched through the driver, since PyCUDA has no cooperative launch."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pycuda.driver as cuda

from grader.records import Kernel


@dataclass(frozen=True)
class CooperativeFunction:
    """A kernel of a CooperativeModule, called like PyCUDA's functions. `offsets` are the offsets of
    its parameters in the parameter space."""

    driver: ctypes.CDLL
    handle: ctypes.c_void_p
    offsets: tuple[int, ...]

    def __call__(
        self, *arguments: np.ndarray, grid: Sequence[int], block: Sequence[int], shared: int
    ) -> None:
        """Queue the kernel; the argument is its parameter space. Raises PyCUDA's Error."""
        (space,) = arguments or (np.zeros(0, dtype=np.uint8),)
        places = (space.ctypes.data + offset for offset in self.offsets)
        parameters = (ctypes.c_void_p * len(self.offsets))(*places)
        _call(
            self.driver,
            "cuLaunchCooperativeKernel",
            *(self.handle, *grid, *block, shared, None, parameters),
        )

    def set_attribute(self, attribute: Any, value: int) -> None:  # noqa: ANN401 (PyCUDA has no types)
        """The equivalent of the method of PyCUDA's functions."""
        _call(self.driver, "cuFuncSetAttribute", self.handle, int(attribute), value)


class CooperativeModule:
    """A cubin, loaded into the current context, whose kernels are launched cooperatively."""

    def __init__(self, driver: ctypes.CDLL, cubin: bytes, kernels: Mapping[str, Kernel]) -> None:
        self._driver, self._kernels = driver, kernels
        self._handle = ctypes.c_void_p()
        _call(driver, "cuModuleLoadData", ctypes.byref(self._handle), cubin)

    def __del__(self) -> None:
        self._driver.cuModuleUnload(self._handle)

    def get_global(self, symbol: str) -> tuple[int, int]:
        """Address and bytes of a variable by its symbol."""
        address, size_bytes = ctypes.c_uint64(), ctypes.c_size_t()
        places = ctypes.byref(address), ctypes.byref(size_bytes)
        _call(self._driver, "cuModuleGetGlobal_v2", *places, self._handle, symbol.encode())
        return address.value, size_bytes.value

    def get_function(self, symbol: str) -> CooperativeFunction:
        """A kernel by its symbol."""
        handle = ctypes.c_void_p()
        place = ctypes.byref(handle)
        _call(self._driver, "cuModuleGetFunction", place, self._handle, symbol.encode())
        offsets = tuple(each.offset for each in self._kernels[symbol].parameters)
        return CooperativeFunction(self._driver, handle, offsets)


def _call(driver: ctypes.CDLL, name: str, *arguments: Any) -> None:  # noqa: ANN401
    """Call a function of the driver. Raises PyCUDA's Error, with the text of PyCUDA."""
    code = getattr(driver, name)(*arguments)
    if code:
        said = ctypes.c_char_p()
        driver.cuGetErrorString(code, ctypes.byref(said))
        raise cuda.Error(f"{name} failed: {(said.value or b'unknown error').decode()}")
