"""How Sally's tools fail: each with a code that a model and a person can act on."""

from __future__ import annotations

from typing import ClassVar

from envelopes.errors import Fault, ToolFailed


class NoRoute(ToolFailed):
    """Nobody flies that route in this demo."""

    code: ClassVar[str] = "no_route"
    fault: ClassVar[Fault] = "client"


class UnknownPlace(ToolFailed):
    """That place is not in the demo's data."""

    code: ClassVar[str] = "unknown_place"
    fault: ClassVar[Fault] = "client"


class BadDate(ToolFailed):
    """That date cannot be searched."""

    code: ClassVar[str] = "bad_date"
    fault: ClassVar[Fault] = "client"


class SystemDown(ToolFailed):
    """The airline's booking system does not answer."""

    code: ClassVar[str] = "system_down"


class NotOnSale(ToolFailed):
    """That flight cannot be bought like this; nothing was bought and nothing was paid."""

    code: ClassVar[str] = "not_on_sale"
    fault: ClassVar[Fault] = "client"
