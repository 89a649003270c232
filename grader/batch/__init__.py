"""Grades a class: finds submissions, keeps a journal, distributes the work and writes results."""
