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


def sgemm(random: Random) -> Case:
    m, n, k = 70, 45, 37
    a, b, c = uniform(random, m, k), uniform(random, k, n), uniform(random, m, n)
    right = np.float32(1.5) * (a @ b) - np.float32(0.5) * c
    sizes = {"M": m, "N": n, "K": k}
    return Case({"C": c}, {"C": right}, {"A": a, "B": b}, sizes, atol=1e-4)


def layer_norm(random: Random) -> Case:
    x = 3 + uniform(random, 20, 300)
    gain, bias = uniform(random, 300), uniform(random, 300)
    wide = x.astype("f8")
    scale = 1 / np.sqrt(wide.var(axis=1, keepdims=True) + 1e-5)
    y = ((wide - wide.mean(axis=1, keepdims=True)) * scale * gain + bias).astype("f4")
    return Case(
        {"y": like(x)},
        {"y": y},
        {"x": x, "gain": gain, "bias": bias},
        {"rows": 20, "cols": 300},
        atol=1e-4,
    )


def lu(random: Random) -> Case:
    n = 40
    a = uniform(random, n, n, dtype="float64") + n * np.eye(n)
    right = a.copy()
    for k in range(n - 1):
        right[k + 1 :, k] /= right[k, k]
        right[k + 1 :, k + 1 :] -= np.outer(right[k + 1 :, k], right[k, k + 1 :])
    return Case({"A": a}, {"A": right}, sizes={"n": n}, rtol=1e-10, atol=1e-12)


CASES: tuple[Make, ...] = (
    spmv_csr,
    spmv_ell,
    matrix_vector,
    softmax_rows,
    batched_gemm,
    sgemm,
    layer_norm,
    lu,
)
