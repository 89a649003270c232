"""C++ source text as everybody here reads it: tokens, comments, directives, declarations, integer
expressions."""
