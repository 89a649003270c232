"""Whole programs on a real GPU: confined runs, times by CUPTI, counters by Nsight Compute, and
findings by compute-sanitizer."""
