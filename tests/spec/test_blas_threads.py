"""Small oracles take one thread of the BLAS library, and give the others back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController

from tests.spec.test_oracle import oracle_of

BLAS = ThreadpoolController().select(user_api="blas")
TELL = (
    "from threadpoolctl import threadpool_info;"
    " return {'y': np.full((sizes['n'], sizes['m']), threadpool_info()[0]['num_threads'], 'f4')}"
)


@pytest.fixture(autouse=True)
def _three_threads() -> Iterator[None]:
    with BLAS.limit(limits=3):
        yield


@pytest.mark.parametrize(("rows", "threads"), [(4, 1), (1 << 20, 3)])
def test_a_small_oracle_has_one_thread(tmp_path: Path, rows: int, threads: int) -> None:
    inputs = {"x": np.zeros((rows, 3), dtype=np.float32)}
    told = oracle_of(tmp_path, TELL)(inputs, {"n": 2, "m": 3})["y"]
    assert (told[0, 0], BLAS.info()[0]["num_threads"]) == (threads, 3)
