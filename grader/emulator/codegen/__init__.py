"""Typed instructions -> native code: one row and one function per opcode."""
