"""``setState``: a change of the session's state that an agent proposes (envelope document, "setState part schema";
D15)."""

from __future__ import annotations

import re
from typing import Annotated

from django.utils.translation import gettext as _
from pydantic import Field, RootModel, StrictStr, field_validator

from envelopes.registries import retelling
from envelopes.registries.part_types import ANYONE, PartType
from envelopes.registries.retelling import data_of
from envelopes.registries.state_machines import state_machines
from envelopes.types import JsonObject

_KEY = re.compile(r"[^.]+\.[^.]+")


class SetState(RootModel[Annotated[dict[str, StrictStr], Field(min_length=1)]]):
    """``{"<component>.<coordinate>": "<state>"}``. Whether there are such is for the session (``turns.states``)."""

    @field_validator("root")
    @classmethod
    def _named(cls, patch: dict[str, str]) -> dict[str, str]:
        for key in patch:
            if not _KEY.fullmatch(key):
                raise ValueError(
                    f"{key[:64]!r} does not name a component and its coordinate, as in 'trip.status'"
                )
        return patch


def in_words(part: JsonObject) -> str:
    """Also of a change that was refused."""
    return _("Requested state changes: {}.").format(
        ", ".join(f"{key} = {value}" for key, value in data_of(part).items())
    )


def _proposable() -> JsonObject:
    """What agents may change here, and to what."""
    return {
        f"{machine.name}.{name}": {"enum": sorted(coordinate.transitions)}
        for machine in state_machines
        if machine.lets("actor")
        for name, coordinate in machine.coordinates.items()
    }


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
    offered=lambda actor: bool(_proposable()),
    data_schema=lambda: {"type": "object", "properties": _proposable(), "additionalProperties": False},
)
