"""Finds submissions that share code: token sequences without names, compared by winnowing."""
