"""How Sally's tools fail: each with a code that a model and a person can act on."""

from __future__ import annotations

from envelopes.errors import ToolFailed


class NoRoute(ToolFailed):
    """Nobody flies that route in this demo."""

    code = "no_route"
    fault = "client"


class UnknownPlace(ToolFailed):
    """That place is not in the demo's data."""

    code = "unknown_place"
    fault = "client"


class BadDate(ToolFailed):
    """That date cannot be searched."""

    code = "bad_date"
    fault = "client"


class SystemDown(ToolFailed):
    """The airline's booking system does not answer."""

    code = "system_down"


class NotOnSale(ToolFailed):
    """That flight cannot be bought like this; nothing was bought and nothing was paid."""

    code = "not_on_sale"
    fault = "client"
