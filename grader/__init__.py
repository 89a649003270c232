"""Grades student CUDA submissions on a GPU or on an emulated one."""
