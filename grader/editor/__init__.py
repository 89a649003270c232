"""`grade lsp`: a language server that grades files as they are saved."""
