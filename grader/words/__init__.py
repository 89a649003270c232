"""Makes sentences of facts, last and once, for whoever reads them; what is hidden never becomes text."""
