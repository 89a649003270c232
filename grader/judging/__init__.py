"""From what a device answered to a score: comparison, metrics, checks, hints and points."""
