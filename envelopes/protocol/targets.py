"""What people act on, as doors hand it over: the DOM id of an element, or ``{owner, surfaceId, componentId,
itemPath?}`` from whoever has no page."""

from __future__ import annotations

from a2ui import ComponentTarget, Target
from envelopes.errors import ValidationFailed
from envelopes.types import Json

_NEEDED = {"owner", "surfaceId", "componentId"}
_MEMBERS = {*_NEEDED, "itemPath"}
_MEMBER_CHARS = 1_000
_DOM_ID_CHARS = 512


def target_of(value: Json) -> Target:
    """The target that JSON names. Raises ``ValidationFailed`` for anything that is none, with the pointer ``/target``;
    whether there is such an element is for the surface to say."""
    if isinstance(value, str) and 0 < len(value) <= _DOM_ID_CHARS:
        return value
    if (
        isinstance(value, dict)
        and _NEEDED <= value.keys() <= _MEMBERS
        and all(isinstance(text, str) and len(text) <= _MEMBER_CHARS for text in value.values())
    ):
        return ComponentTarget(
            value["owner"], value["surfaceId"], value["componentId"], value.get("itemPath", "")
        )
    raise ValidationFailed(
        "A target is the DOM id of an element, or {owner, surfaceId, componentId, itemPath?} of a component.",
        path="/target",
    )
