"""nvcc, nvdisasm and what they make: a submission's text becomes kernels with machine code."""
