"""Tools for students: sizes, former versions, small kernels with one access each, and a host
program for profilers."""
