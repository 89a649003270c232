"""Launches of translated kernels: memory, blocks, counters, faults."""
