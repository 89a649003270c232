"""How many threads NumPy's BLAS library multiplies matrices with."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController


class _Visitors:
    """Who is within `one_thread`: the first one changes the number, the last one changes it
    back."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.count = 0
        self.limit = ExitStack()


@contextmanager
def one_thread() -> Iterator[None]:
    """As long as anybody is in here, BLAS has one thread.

    Of the product of small matrices others do little, and then wait for more to do at full speed:
    10 to 40 ms of processor for a product that takes one thread half of one (OpenBLAS, 200³).
    """
    visitors = _visitors()
    with visitors.lock:
        if not visitors.count:
            visitors.limit.enter_context(_blas().limit(limits=1))
        visitors.count += 1
    try:
        yield
    finally:
        with visitors.lock:
            visitors.count -= 1
            if not visitors.count:
                visitors.limit.close()


@cache
def _visitors() -> _Visitors:
    return _Visitors()


@cache
def _blas() -> ThreadpoolController:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas")
