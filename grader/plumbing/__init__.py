"""What every stage needs and none is about: child processes, locks, whole files, a cache, JSON."""
