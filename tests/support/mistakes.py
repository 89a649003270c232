"""Ten mistakes that students make with the transpose: as docs/pictures.py records what is said."""

from __future__ import annotations

from typing import NamedTuple

_REFERENCE = """\
#define TILE 32
#define ROWS 8
// launch: transpose<<<dim3(ceil_div(cols, TILE), ceil_div(rows, TILE)), dim3(TILE, ROWS)>>>(out, in, rows, cols)
__global__ void transpose(float* out, const float* in, int rows, int cols)
{
    __shared__ float tile[TILE][TILE + 1];
    int x = blockIdx.x * TILE + threadIdx.x;
    int y = blockIdx.y * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS)
        if (x < cols && y + j < rows)
            tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * cols + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS)
        if (x < rows && y + j < cols)
            out[(y + j) * rows + x] = tile[threadIdx.x][threadIdx.y + j];
}
"""
"""A right kernel, which each mistake changes in one place."""


class Mistake(NamedTuple):
    """`old` of the right kernel became `new`. `title` is how the docs call it."""

    name: str
    title: str
    old: str
    new: str

    @property
    def text(self) -> str:
        """The file as it is handed in."""
        assert _REFERENCE.count(self.old) == 1, self.name
        return _REFERENCE.replace(self.old, self.new)


MISTAKES = (
    Mistake(
        "semicolon", "A semicolon is missing", "    __syncthreads();\n", "    __syncthreads()\n"
    ),
    Mistake("name", "A name is misspelt", "tile[threadIdx.x][", "title[threadIdx.x]["),
    Mistake(
        "threads",
        "More threads than a block can have",
        "dim3(TILE, ROWS)>>>",
        "dim3(2 * TILE, TILE)>>>",
    ),
    Mistake(
        "arguments", "The arguments of the launch are exchanged", "(out, in, rows", "(in, out, rows"
    ),
    Mistake("barrier", "The barrier is missing", "    __syncthreads();\n", ""),
    Mistake(
        "branch",
        "The barrier is in a branch",
        "    __syncthreads();\n",
        "    if (x < cols && y < rows)\n        __syncthreads();\n",
    ),
    Mistake(
        "edges",
        "The edges are not looked after",
        "        if (x < rows && y + j < cols)\n",
        "",
    ),
    Mistake(
        "blocks",
        "The blocks are not exchanged for the output",
        "x = blockIdx.y * TILE + threadIdx.x;\n    y = blockIdx.x * TILE + threadIdx.y;\n    for (int j = 0; j < TILE; j += ROWS)\n        if (x < rows && y",
        "x = blockIdx.x * TILE + threadIdx.x;\n    y = blockIdx.y * TILE + threadIdx.y;\n    for (int j = 0; j < TILE; j += ROWS)\n        if (x < rows && y",
    ),
    Mistake(
        "loop",
        "A loop does not end",
        "    x = blockIdx.y * TILE + threadIdx.x;\n    y = blockIdx.x * TILE + threadIdx.y;\n    for (int j = 0; j < TILE; j += ROWS)",
        "    x = blockIdx.y * TILE + threadIdx.x;\n    y = blockIdx.x * TILE + threadIdx.y;\n    for (int j = 0; j < TILE;)",
    ),
    Mistake("conflicts", "All lanes meet in one bank", "[TILE + 1]", "[TILE]"),
)
