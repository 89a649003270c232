"""Devices: the protocol, the emulated device, and the table of GPUs."""
