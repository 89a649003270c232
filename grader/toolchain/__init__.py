"""Runs nvcc and nvdisasm: a submission's text becomes kernels with machine code."""
