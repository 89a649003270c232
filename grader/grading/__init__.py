"""Grades one submission: joins the stages, with one module of steps for each kind of device."""
