"""Devices: the one verb, the table of GPUs, and what runs programs: emulated, a GPU, in a worker."""
