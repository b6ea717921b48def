"""``setState``: a change of the session's state that an agent proposes (envelope document, "setState part schema";
D15)."""

from __future__ import annotations

from typing import Annotated

from django.utils.translation import gettext as _
from pydantic import Field, RootModel, StrictStr

from envelopes.registries import retelling
from envelopes.registries.part_types import ANYONE, PartType
from envelopes.registries.retelling import data_of
from envelopes.types import JsonObject


class SetState(RootModel[Annotated[dict[str, StrictStr], Field(min_length=1)]]):
    """``{"<component>.<coordinate>": "<state>"}``."""


def in_words(part: JsonObject) -> str:
    """Also of a change that was refused."""
    return _("Requested state changes: {}.").format(
        ", ".join(f"{key} = {value}" for key, value in data_of(part).items())
    )


SET_STATE = PartType(
    "setState",
    ANYONE,
    "drop",
    "drop",
    data="required",
    data_model=SetState,
    verbatim_to_peers=True,
    sets_state=True,
    canonical=True,
    retold=retelling.nothing,
    in_words=in_words,
    description="a change of the session's state: {component.coordinate: new state}",
    example={"data": {"trip.status": "planned"}},
)
