"""Templates, style sheet and script of the server's pages; `bundle/` holds the bundled editor."""
