"""A submission: its text, its launch plan, its includes, and the plan resolved against its
kernels."""
