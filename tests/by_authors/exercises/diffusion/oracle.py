"""The expected values: each step in float64."""

import numpy as np


def expected(inputs: dict[str, np.ndarray], sizes: dict[str, int]) -> dict[str, np.ndarray]:
    """What the ring holds after all steps."""
    ring = inputs["in"].astype(np.float64)
    weights = inputs["weights"].astype(np.float64)
    rate, source = float(inputs["rate"]), float(inputs["source"])
    for _ in range(sizes["steps"]):
        spread = sum(weight * np.roll(ring, 2 - k) for k, weight in enumerate(weights))
        ring = (1 - rate) * ring + rate * spread / 5
        ring[int(inputs["place"]) % sizes["n"]] += source
    return {"out": ring}
