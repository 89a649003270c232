"""Products of matrices and vectors, dense and sparse."""

from __future__ import annotations

import numpy as np

from tests.by_authors.runs.cases import Case, Make, Random, like, uniform


def spmv_csr(random: Random) -> Case:
    rows, cols = 150, 90
    counts = random.integers(0, 60, rows)
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    columns = np.concatenate([random.permutation(cols)[:count] for count in counts])
    values, x = uniform(random, columns.size, dtype="float64"), uniform(random, cols, dtype="f8")
    dense = np.zeros((rows, cols))
    dense[np.repeat(np.arange(rows), counts), columns] = values
    return Case(
        {"y": like(dense[:, 0])},
        {"y": dense @ x},
        {"starts": starts, "columns": columns.astype(np.int32), "values": values, "x": x},
        {"rows": rows},
        rtol=1e-12,
        atol=1e-12,
    )


def spmv_ell(random: Random) -> Case:
    rows, width = 700, 9
    columns = random.integers(-1, rows, (width, rows), dtype=np.int32)
    values, x = uniform(random, width, rows), uniform(random, rows)
    y = np.where(columns >= 0, values * x[columns], 0).sum(axis=0)
    return Case(
        {"y": like(x)},
        {"y": y},
        {"columns": columns, "values": values, "x": x},
        {"rows": rows, "width": width},
        atol=1e-5,
    )


def matrix_vector(random: Random) -> Case:
    a, x = uniform(random, 300, 450), uniform(random, 450)
    return Case(
        {"y": ("float32", 300)},
        {"y": a @ x},
        {"A": a, "x": x},
        {"m": 300, "n": 450},
        atol=1e-4,
    )


def softmax_rows(random: Random) -> Case:
    x = 8 * uniform(random, 30, 100)
    powers = np.exp(x.astype("f8") - x.max(axis=1, keepdims=True))
    right = powers / powers.sum(axis=1, keepdims=True)
    return Case(
        {"y": like(x)},
        {"y": right.astype("f4")},
        {"x": x},
        {"rows": 30, "cols": 100},
        rtol=1e-5,
        atol=1e-7,
    )


def batched_gemm(random: Random) -> Case:
    a, b = uniform(random, 50, 8, 8), uniform(random, 50, 8, 8)
    return Case({"C": like(a)}, {"C": a @ b}, {"A": a, "B": b}, {"count": 50}, atol=1e-5)


CASES: tuple[Make, ...] = (spmv_csr, spmv_ell, matrix_vector, softmax_rows, batched_gemm)
