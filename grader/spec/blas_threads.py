"""How many threads NumPy's BLAS library multiplies matrices with."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController


def one_thread() -> AbstractContextManager[object]:
    """Within this, BLAS has one thread; while several threads of ours are, one of them decides.

    Of the product of small matrices more do little, and then wait for the next one at full speed:
    10 to 40 ms of processor for a product that takes one thread half of one (OpenBLAS, 200³).
    """
    limited: AbstractContextManager[object] = _blas().limit(limits=1)
    return limited


@cache
def _blas() -> ThreadpoolController:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas")
