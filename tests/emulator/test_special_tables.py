"""The tables of the special-function unit follow from the unit's results."""

from __future__ import annotations

from itertools import islice

import pytest

from tests.support.special_tables import (
    FORMS,
    HEADER,
    Form,
    evaluate_emulated,
    fit,
    format_table,
    read_table,
)

TEXT = HEADER.read_text(encoding="utf-8")
CHOSEN = ("TANGENT",)


@pytest.mark.parametrize("form", FORMS, ids=[form.table for form in FORMS])
def test_a_table_is_written_as_it_was_read(form: Form) -> None:
    assert format_table(TEXT, form.table, read_table(TEXT, form.table)) == TEXT


@pytest.mark.parametrize(
    "form",
    [
        pytest.param(form, marks=[] if form.table in CHOSEN else [pytest.mark.slow])
        for form in FORMS
    ],
    ids=[form.table for form in FORMS],
)
def test_coefficients_follow_from_results(form: Form) -> None:
    """The first rows; more with `python -m tests.support.special_tables --emulated`."""
    points = form.points(evaluate_emulated, form.function)
    assert list(islice(fit(form, points), 3)) == read_table(TEXT, form.table)[:3]
