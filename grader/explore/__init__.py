"""What a student explores with: small kernels, what each access of them moves, and why."""
