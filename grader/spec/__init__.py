"""Exercises: the launch-line language, the exercise model, and the reading and checking of
specs."""
