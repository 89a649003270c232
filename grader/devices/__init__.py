"""Devices: the one verb, the table of GPUs, and who runs: emulated, a GPU, or in a worker."""
