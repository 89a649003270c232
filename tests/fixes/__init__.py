"""Rewritings of a submission, as texts."""
