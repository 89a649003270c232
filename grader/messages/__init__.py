"""Makes sentences of facts: last, once, and for whoever reads them. What is hidden never becomes
text."""
