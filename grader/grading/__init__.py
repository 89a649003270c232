"""The steps of `pipeline.grade`: they join the stages, and each does one thing for one grading."""
