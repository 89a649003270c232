"""Typed instructions -> native code: a row and a function per opcode."""
