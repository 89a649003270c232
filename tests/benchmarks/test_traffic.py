"""The counts of the L2 with which the model's hit rate is compared."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import traffic
from jobs import find_jobs
from traffic import FEW_SECTORS, FILE, Row, compare, read_rows


def test_each_count_is_of_a_run_that_still_exists() -> None:
    runs = {(job.name, job.label) for job in find_jobs([], kernels_only=True)}
    rows = read_rows(FILE)
    assert rows.keys() <= runs
    assert len(rows) > 700


def test_copies_have_the_rate_of_an_l2_in_two_partitions() -> None:
    rows = read_rows(FILE)
    copies = [row for (name, _), found in rows.items() for row in found if "copy_floats" in name]
    assert len(copies) == 3
    assert all(0.49 < row.hit_rate < 0.53 for row in copies)


def test_the_comparison_leaves_out_what_has_few_requests(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    job = find_jobs([], kernels_only=True)[0]
    many, few = (
        {"name": job.name, "run": job.label, "launch": launch, "l2_sectors": sectors}
        for launch, sectors in enumerate((FEW_SECTORS, FEW_SECTORS - 1))
    )
    rest = {"l2_hits": FEW_SECTORS // 2, "dram_read_bytes": 64, "dram_written_bytes": 0}
    file = tmp_path / "traffic.json"
    file.write_text(json.dumps({"rows": [many | rest, few | rest]}), encoding="utf-8")
    assert read_rows(file)[job.name, job.label][0] == Row(
        job.name, job.label, 0, FEW_SECTORS, FEW_SECTORS // 2, 64, 0
    )
    monkeypatch.setattr(traffic, "ProcessPoolExecutor", Here)
    monkeypatch.setattr(traffic, "model", lambda _: [(0.52, 64.0), (0.9, 64.0)])
    compare([job], read_rows(file))
    assert "1 launches with 50,000 requests or more: hit rate wrong by 2.0%" in (
        capsys.readouterr().out
    )


class Here:
    """Calls in this process instead of a pool."""

    def __init__(self, _: int) -> None:
        self.map = map

    def __enter__(self) -> Here:
        return self

    def __exit__(self, *_: object) -> None:
        pass
