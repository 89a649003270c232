"""Devices: their protocol, the table of GPUs, and the emulated device, a GPU, or a worker."""
