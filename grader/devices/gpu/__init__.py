"""A real GPU: run and timed through PyCUDA, counted by Nsight Compute, watched through NVML.

What imports PyCUDA at its top (`gpu_device` and all that it stands on) needs it and a driver.
"""
