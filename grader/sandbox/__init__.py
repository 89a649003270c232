"""Child processes and their limits."""
