"""The CUDA driver and runtime on the emulated device, for whole programs (README.md)."""
