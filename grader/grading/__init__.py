"""Grades a submission: joins the stages, with a module of steps for each kind of device."""
