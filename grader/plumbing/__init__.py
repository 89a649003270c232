"""Tools for every stage: child processes, locks, atomic files, the cache, JSON of records."""
