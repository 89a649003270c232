"""The one reader of C++."""
