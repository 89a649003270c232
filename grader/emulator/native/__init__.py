"""LLVM IR of what the translated opcodes call: memory accesses with their counting, divergence,
blocks of a grid."""
