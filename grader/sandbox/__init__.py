"""Confinement of the programs that process a submission: their files, network, signals and
limits."""
