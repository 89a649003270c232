"""What a student explores a submission with: a host program of its own, and the comparison of two versions."""
