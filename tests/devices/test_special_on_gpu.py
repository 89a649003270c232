"""The special-function unit of this machine's GPU, over all arguments, against what is recorded;
tests/emulator/test_special_sums.py compares the emulated device with it."""

from __future__ import annotations

import pytest

from tests.support.special_sums import FUNCTIONS, HALF_FUNCTIONS, add_up_on_gpu, read_recorded


@pytest.mark.gpu
@pytest.mark.parametrize("name", [*FUNCTIONS, *HALF_FUNCTIONS])
def test_a_gpu_gives_what_is_recorded(name: str) -> None:
    got, want = add_up_on_gpu(name), read_recorded()[name]
    different = [
        upper for upper, pair in enumerate(zip(got, want, strict=True)) if len({*pair}) > 1
    ]
    assert not different, f"ranges of {name}: {different}"
