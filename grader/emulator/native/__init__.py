"""What kernels are translated with: words for LLVM IR, and the checked mode's facts of
instructions."""
