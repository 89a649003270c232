"""A course in the browser: accounts, exercises, a queue of gradings, and pages for students and
instructors."""
