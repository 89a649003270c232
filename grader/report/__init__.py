"""Renders a score: as text and pages for readers, as JSON for programs."""
