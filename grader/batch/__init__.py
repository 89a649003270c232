"""Grades a class: finds submissions, keeps a journal, shares the work out, and writes the
results."""
