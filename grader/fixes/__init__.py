"""Mends: rewritings of a submission's text that may serve where a check lost points. Nothing here
runs; `grading.what_if` tries them."""
