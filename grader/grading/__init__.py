"""One grading: a session, and a page for each kind of device. It joins the stages."""
