"""Hostile texts in every property of our own components, judged by the shared oracle."""

from __future__ import annotations

from typing import Any

import pytest

from a2ui.catalog.beach import BEACH_CATALOG
from a2ui.safety.text import clean_text
from tests.a2ui.own import engine
from tests.a2ui.programs import components, create, data, path, row
from tests.shared import caselib, needs_shared, xss_payloads

pytestmark = [pytest.mark.shared, needs_shared]


def every_place(text: Any) -> list[dict[str, Any]]:
    """A definition with the text wherever one may stand, by itself and by way of the data."""
    link = {"label": text, "value": path("t"), "type": "link", "url": path("t"), "sortable": True}
    status = {"label": path("/t"), "value": text, "type": "status", "tones": {"x": "success", text: text}}
    money = {"label": "C", "value": path("t"), "type": "currency", "currency": text, "align": text}
    when = {"label": "D", "value": path("/day"), "type": "date", "format": text}
    choices = ["x", text, {"value": "y", "label": text}]
    fields = [
        {"id": "a", "label": text, "hint": text, "placeholder": text, "required": True},
        {"id": "b", "label": path("/t"), "type": "longText", "hint": path("/t")},
        {"id": "c", "label": text, "type": "select", "options": choices, "default": text},
        {"id": "d", "label": text, "type": "checkbox"},
        {"id": "e", "label": "E", "type": "email", "placeholder": path("/t")},
    ]
    return [
        row("root", "Column", children=["m", "n", "t", "u", "f", "c", "d"]),
        row("m", "Markdown", text=text),
        row("n", "Markdown", text=path("/t")),
        row(
            "t", "Table", columns=[link, status, money, when], rows=path("/rows"), caption=text, empty=text,
            accessibility={"label": text, "description": path("/t")},
        ),
        row(
            "f", "Form", title=text, fields=fields, value=path("/form"), submitLabel=path("/t"),
            action={"event": {"name": "go"}}, checks=[{"condition": False, "message": text}],
        ),
        row(
            "c", "Chart", type="bar", title=text, data=path("/rows"), label=path("t"), currency=text,
            series=[{"label": text, "value": path("t")}, {"label": path("/t"), "value": text}],
        ),
        row("d", "Chart", type="line", data=[[text]], label=path("0"), series=[{"label": "x", "value": 1}]),
        row("u", "Table", columns=[{"label": "A", "value": path("0")}], rows=[[text]], caption=path("/t")),
    ]  # fmt: skip


def page(text: Any) -> str:
    surfaces = engine(debug=True).surfaces()
    # What stands in a field is what will be sent: there it is left as it is, as in any input.
    form = dict.fromkeys("abe", clean_text(text))
    model = {"t": text, "rows": [{"id": text, "t": text}], "day": "2026-01-02", "form": form}
    for message in (create(catalogId=BEACH_CATALOG.id), components(*every_place(text)), data(model)):
        surfaces.apply(message)
    return "".join([change.html for change in surfaces.flush()])


@pytest.mark.parametrize("entry", xss_payloads())
def test_nothing_of_it_runs(entry):
    text = entry["payload"]
    if not isinstance(text, str):
        pytest.skip("No text.")
    shown = page(text)
    assert [shown.count(f"<{tag}") for tag in ("table", "figure", "select")] == [4, 2, 1]
    assert caselib().xss_findings(shown, page("benign"), text) == []
