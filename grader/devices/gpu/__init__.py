"""A real GPU through PyCUDA: importing `device` (or anything else here but `placement` and `words`)
needs PyCUDA and a driver."""
