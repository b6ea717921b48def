"""A part, drawn by whoever draws its type; by the readable fallback where that fails. And who that is, for snapshots:
what another drawer has made would not be what the same rows make now."""

from __future__ import annotations

import logging
from collections.abc import Mapping

from envelopes.registries.part_types import part_types
from envelopes.transports.panel.presenter import data
from envelopes.transports.panel.presenter.drawers import drawer_of
from envelopes.transports.panel.presenter.row import RowContext
from envelopes.transports.panel.reader import gets

logger = logging.getLogger(__name__)


def draw(context: RowContext) -> None:
    """One drawer that fails must not take the conversation with it: what it had added goes, and the part is shown as it
    is. What it had changed of earlier views stays."""
    before = context.model.added()
    try:
        drawer_of(context.row.part_type)(context)
    except Exception:
        logger.exception("The drawer of row %s (%s) fails.", context.row.seq, context.row.part_type)
        context.model.take_back(before)
        data.show_unknown(context)


def drawn_by(part_type: str) -> str:
    """Who draws parts of this type now; empty where they are not shown, or nobody knows the type."""
    if not gets(part_types.get(part_type)):
        return ""
    drawer = drawer_of(part_type)
    return f"{drawer.__module__}.{drawer.__qualname__}"


def is_own(part_type: str) -> bool:
    """Whether an application draws it: only what it registers comes and goes, ours changes with the version of
    snapshots."""
    kind = part_types.get(part_type)
    return kind is None or not kind.canonical


def drawn_otherwise(drawn: Mapping[str, str]) -> list[str]:
    """The part types of ``drawn`` (by name, who drew them) that somebody else draws by now."""
    return [name for name, by in drawn.items() if drawn_by(name) != by]
