"""A score as words for a person and as JSON for a machine."""
