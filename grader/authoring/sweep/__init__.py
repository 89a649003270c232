"""A submission over sizes, beside the processor, the naive baseline, the comparisons, the reference
and a library."""
