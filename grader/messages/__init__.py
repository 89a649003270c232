"""Facts become sentences here, at the last stage. Secrets of hidden cases never become text."""
