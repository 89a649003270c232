"""Any device in a child process: the grader's end, the worker, and their messages."""
