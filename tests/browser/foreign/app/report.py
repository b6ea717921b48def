"""A surface of our own catalog, for a front end that knows the Basic one only."""

from __future__ import annotations

from a2ui.compose import Column, Surface, event, path
from a2ui.compose.beach import Chart, Form, Table, column, field, series
from envelopes.types import JsonObject

FARES = [{"id": 1, "name": "BA 1", "price": 90}, {"id": 2, "name": "U2 7", "price": 75}]
DAYS = [{"name": "Saturday", "high": 29}, {"name": "Sunday", "high": 31}]


def report() -> list[JsonObject]:
    """The messages that make it."""
    columns = [column("Flight", path("name")), column("Price", path("price"), "currency", currency="EUR")]
    fields = [
        field("name", "Name", required=True),
        field("class", "Class", "select", options=["Economy", "Business"]),
    ]
    inside = Column(
        Table(path("/fares"), columns, caption="Fares"),
        Chart("bar", path("/days"), path("name"), [series("Highest", path("high"))], title="Weather"),
        Form(fields, path("/who"), event("book"), submitLabel="Book"),
    )
    return Surface("report", inside, {"fares": FARES, "days": DAYS, "who": {}}).create()
