"""Types of the values in a score, with the keywords of JSON Schema that bound them.

`docs/schemas.py` makes grader/schemas/score.schema.json from the records: from their fields' types
and the text below each field.
"""

from __future__ import annotations

from typing import Annotated

LATER, ON_REQUEST = "later", "on request"
"""Marks of fields: scores of earlier versions lack it; JSON has it on request only, and never as
null."""

Count = Annotated[int, ("minimum", 0)]
Number = Annotated[int, ("minimum", 1)]
LineNumber = Annotated[int | None, ("minimum", 1)]
"""1-based line of the submission; null for code from a header."""
Fraction = Annotated[float, ("minimum", 0), ("maximum", 1)]
Amount = Annotated[float, ("minimum", 0)]
Positive = Annotated[float, ("exclusiveMinimum", 0)]
Figure = Annotated[float, ("name", "figure")]
"""A float that may be infinite or not a number: JSON has it as a string then."""
Named = Annotated[str, ("minLength", 1)]
MetricName = Annotated[str, ("name", "metric_name")]
