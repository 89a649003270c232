"""The pages of the course server: routes, sessions, and the limits of requests."""
