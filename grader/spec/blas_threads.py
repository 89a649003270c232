"""How many threads NumPy's BLAS library multiplies matrices with."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController


def one_thread() -> AbstractContextManager[object]:
    """In this context BLAS has a single thread. If several Python threads are in it at once, the
    setting of one of them holds.

    More threads do not speed up products of small matrices: they then spin while they wait for the
    next product, 10 to 40 ms of processor time for a product that takes a single thread half a
    millisecond (OpenBLAS, 200³).
    """
    limited: AbstractContextManager[object] = _blas().limit(limits=1)
    return limited


@cache
def _blas() -> ThreadpoolController:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas")
