"""The card of an order: what a result of ``find_order`` looks like, wherever it comes from."""

from __future__ import annotations

from a2ui.compose import Button, Column, Surface, Text, event, fn, own, path, plain
from envelopes import JsonObject, SurfaceTemplate, TemplateContext
from helpdesk.catalog import CATALOG
from helpdesk.models import Order

WHERE = "where_is_it"
"""The event that its button sends."""


def order_card(order: JsonObject, context: TemplateContext) -> Surface:
    """Called again with newer data of the same slot: what differs is sent to the page as a change."""
    parts = [
        Text(f"#### {plain(str(order['item']))}"),
        Text(fn.formatString("Order ${/number}, ${formatCurrency(value: /euros, currency: 'EUR')}")),
        own(CATALOG, "Track", steps=list(Order.Stage.values), at=path("/stage")),
    ]
    if order["refunded"]:
        parts.append(Text(fn.formatString("Refunded: ${formatCurrency(value: /refunded, currency: 'EUR')}")))
    if order["stage"] == Order.Stage.SHIPPED:
        parts.append(Button(Text("Where is it?"), event(WHERE, number=path("/number")), id="where"))
    return Surface(context.surface_id, Column(*parts), dict(order), catalog=CATALOG)


ORDER_CARD = SurfaceTemplate("helpdesk.order", order_card)
