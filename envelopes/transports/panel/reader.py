"""Who reads a panel, and what they get: pages, socket and presenter ask the rules of delivery here."""

from __future__ import annotations

from envelopes.delivery import rules
from envelopes.registries.part_types import PartType
from envelopes.registries.transports import Connection

CAPABILITIES = frozenset({"surfaces", "previews"})
CONNECTION = Connection("panel", "streaming")

READER = rules.Reader("person", surfaces="surfaces" in CAPABILITIES)
"""Whoever they are: a page draws interfaces, and nobody at one can ask for types by name."""


def gets(kind: PartType | None, *, late: bool = False) -> bool:
    """Whether a page gets parts of this type; None is one that nobody registered."""
    return rules.gets(kind, CONNECTION, READER, late=late)
