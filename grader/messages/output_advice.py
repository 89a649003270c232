"""Advice for outputs that show their own cause. It replaces the author's hint, which is general."""

from __future__ import annotations

from collections.abc import Mapping

OUTPUT_ADVICE: Mapping[str, str] = {
    "arguments_exchanged": (
        "Give the launch line's arguments in the order of the kernel's parameters."
    ),
    "input_modified": "Store to the output, or to a scratch buffer.",
    "untransposed": "Exchange row and column in the index of the load or of the store.",
    "blocks_unswapped": (
        "Where the output's tile begins, blockIdx.x and blockIdx.y exchange their places."
    ),
    "tiles_in_place": "Inside a tile, too, elements stored by row are read by column.",
    "index_off_by_one": "Look for a + 1 or a - 1, and for < where <= should stand, or the reverse.",
    "edge": (
        "Round the grid up (ceil_div), and compare each index with the very size that bounds it."
    ),
    "race": "",
}
"""By the key of the cause (messages.causes). The message of a race already names the missing
barrier."""
