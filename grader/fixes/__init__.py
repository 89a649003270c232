"""Fixes: edits of a submission's text that may win back the points of a check. Nothing here runs;
`grading.what_if` tries them."""
