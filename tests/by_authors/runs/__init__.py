"""Kernels in the style of public courses, and for each what it is run on and what is right."""
