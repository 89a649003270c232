"""A real GPU: run and timed through PyCUDA, counted by Nsight Compute, monitored through NVML.

Modules that import PyCUDA at their top (`gpu_device` and its imports) need PyCUDA and a driver.
"""
