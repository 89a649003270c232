"""Records that Python, native code and the C++ runtime share."""
