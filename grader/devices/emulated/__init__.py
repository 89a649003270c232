"""The emulated device: launch plans on the CPU, by executing the machine code."""
