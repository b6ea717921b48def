"""Components of an application whose code fails: what is noted of that, and what is told."""

from __future__ import annotations

import logging
from typing import Final

from a2ui.catalog.component_type import ComponentType
from a2ui.errors import RAISED, A2uiError
from a2ui.safety.raised import hold, raised_at

logger = logging.getLogger(__name__)

COMPONENT_FAILED: Final = "COMPONENT_FAILED"


def noted(kind: ComponentType, catalog_id: str, component_id: str, error: Exception, doing: str) -> None:
    """Logs that a component failed while `doing` something, without values. Raises the error again where it must not be
    held up."""
    hold(error)
    raised = raised_at(error, type(kind).__module__)
    logger.error(
        "The component %s of catalog %s, id %r, failed while %s: %s",
        kind.name, catalog_id, component_id, doing, raised,
    )  # fmt: skip


def failed(kind: ComponentType, catalog_id: str, error: Exception) -> A2uiError:
    """What an agent is told of a component that is not shown for it; the line is for staff."""
    message = (
        f"{kind.name} failed inside, so a notice stands in its place. Show the same with other components."
    )
    facts = {"type": kind.name, "catalog": catalog_id, RAISED: raised_at(error, type(kind).__module__)}
    return A2uiError(message, code=COMPONENT_FAILED, fault="configuration", **facts)
