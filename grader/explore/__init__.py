"""What a student explores with: sizes, former versions, small kernels that show one access each,
and a host program to profile."""
