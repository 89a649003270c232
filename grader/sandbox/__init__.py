"""Confinement: what a program that works on a submission sees of the machine, and may use."""
