"""The block that a document in rollout has to have (seed 003, "Experimental Governance"; reading 6): what is wrong with
one, and what it says. Whether its flag is on and who has consented is asked elsewhere, of what ``read`` gives."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from envelopes.protocol.text import clean_text
from envelopes.transports.documents.formats.coercing import ABSENT, Coercion, below, clamp_text, trim
from envelopes.transports.documents.formats.errors import InvalidInput
from envelopes.transports.documents.formats.limits import DEFAULT_LIMITS, DocumentLimits
from envelopes.types import Json, JsonObject

STAGES = ("disabled", "dark_launch", "operator_preview", "limited_preview")
MODES = ("disabled", "push_to_talk")
LENGTHS = {"track_id": 64, "feature_flag": 96, "support_summary": 240}
CHECKLISTS = ("security_review", "exit_criteria")
NAMES = (*LENGTHS, "rollout_stage", "ambient_mode", "consent_required", *CHECKLISTS)
_NOT_IN_FLAGS = re.compile(r"[^A-Za-z0-9:._-]+|-{2,}")
_HYPHENS = re.compile(r"-{2,}")


@dataclass(frozen=True, slots=True)
class Experimental:
    """A block that is in order."""

    track_id: str
    feature_flag: str
    support_summary: str
    security_review: tuple[str, ...]
    exit_criteria: tuple[str, ...]
    rollout_stage: str = "dark_launch"
    ambient_mode: str = "disabled"
    consent_required: bool = False

    @property
    def listens(self) -> bool:
        """Whether it wants a person's voice, which takes their consent."""
        return self.ambient_mode == "push_to_talk"


def read(document: JsonObject) -> Experimental | None:
    """The block of a document that has been normalised; None where it has none."""
    block = document.get("experimental")
    if block is None:
        return None
    lists = {name: tuple(block[name]) for name in CHECKLISTS}
    return Experimental(**{**block, **lists})


# -- strict -----------------------------------------------------------------------------------------------------------


def check(block: Json) -> None:
    """Raises ``InvalidInput`` for the first thing that is wrong, in the order of the source (reading 2.2, 6 to 12)."""
    if not isinstance(block, dict):
        raise InvalidInput("experimental has to be an object.", reason="InvalidType", path="experimental")
    for name in LENGTHS:
        _check_text(_member(block, name), name)
    for name in CHECKLISTS:
        entries = _member(block, name)
        if not isinstance(entries, list):
            raise _wrong("InvalidType", name, "a list of texts")
        if not entries:
            raise _wrong("EmptyField", name, "a list with an entry at least")
        for entry in entries:
            _check_text(entry, name)
    _check_choice(block, "rollout_stage", STAGES)
    _check_choice(block, "ambient_mode", MODES)
    consent = block.get("consent_required", False)
    if not isinstance(consent, bool):
        raise _wrong("InvalidType", "consent_required", "true or false")
    if block.get("ambient_mode") == "push_to_talk" and not consent:
        raise _consent()


def _member(block: JsonObject, name: str) -> Json:
    if name not in block:
        raise InvalidInput(
            f"experimental.{name} is missing.", reason="MissingField", path=f"experimental.{name}"
        )
    return block[name]


def _check_text(value: Json, name: str) -> None:
    if not isinstance(value, str):
        raise _wrong("InvalidType", name, "text")
    if not trim(value):
        raise _wrong("EmptyField", name, "text that is not blank")


def _check_choice(block: JsonObject, name: str, choices: tuple[str, ...]) -> None:
    value = block.get(name, choices[0])
    if not isinstance(value, str):
        raise _wrong("InvalidType", name, "text")
    if value not in choices:
        raise _wrong("InvalidExperimentalValue", name, f"one of {', '.join(choices)}")


def _wrong(reason: Any, name: str, expected: str) -> InvalidInput:
    return InvalidInput(
        f"experimental.{name} has to be {expected}.", reason=reason, path=f"experimental.{name}"
    )


def _consent() -> InvalidInput:
    return InvalidInput(
        "A document with ambient_mode push_to_talk has consent_required=true.",
        reason="AmbientConsentRequired",
        path="experimental.consent_required",
    )


# -- lenient ----------------------------------------------------------------------------------------------------------


def normalised(block: Json, coercion: Coercion, limits: DocumentLimits = DEFAULT_LIMITS) -> JsonObject | None:
    """The block with known members alone, by their names of the schema; camel case is read too. None where there is
    none. Raises ``InvalidInput`` where one of its gates fails: then nothing of its document is shown."""
    if block is None:
        return None
    if not isinstance(block, dict):
        raise InvalidInput("experimental has to be an object.", reason="InvalidType", path="experimental")
    path = "/experimental"
    coercion.known(block, path, [*NAMES, *map(_camel, NAMES)])

    def value(name: str) -> Any:
        return block.get(name, block.get(_camel(name), ABSENT))

    track = _needed(value, "track_id", coercion)
    found: JsonObject = {
        "track_id": coercion.identifier(track, below(path, "track_id"), "experimental-track", 64),
        "feature_flag": _flag_name(_needed(value, "feature_flag", coercion), coercion),
        "support_summary": _needed(value, "support_summary", coercion),
        "rollout_stage": coercion.choice(
            value("rollout_stage"), below(path, "rollout_stage"), STAGES, "dark_launch"
        ),
        "ambient_mode": coercion.choice(
            value("ambient_mode"), below(path, "ambient_mode"), MODES, "disabled"
        ),
        "consent_required": coercion.flag(value("consent_required"), below(path, "consent_required")),
    }
    if found["ambient_mode"] == "push_to_talk" and not found["consent_required"]:
        raise _consent()
    for name in CHECKLISTS:
        found[name] = _checklist(value(name), name, coercion, limits)
    return found


def _needed(value: Callable[[str], Any], name: str, coercion: Coercion) -> str:
    sent = value(name)
    text = coercion.text(sent, below("/experimental", name), "", LENGTHS[name])
    if not text:
        reason = "MissingField" if sent is ABSENT else "EmptyField"
        raise _wrong(reason, name, "text that is not blank")
    return text


def _flag_name(text: str, coercion: Coercion) -> str:
    name = _HYPHENS.sub("-", _NOT_IN_FLAGS.sub("-", text))
    if name != text:
        coercion.report.add("renamed", "/experimental/feature_flag", f"It is called {name} here.")
    return name


def _checklist(value: Any, name: str, coercion: Coercion, limits: DocumentLimits) -> list[str]:
    path = below("/experimental", name)
    found = []
    for number, entry in enumerate(coercion.entries(value, path, "entries", limits.checklist_entries)):
        text = trim(clean_text(entry)) if isinstance(entry, str) else ""
        if not text:
            coercion.report.add("dropped", below(path, number), "This has to be text that is not blank.")
            continue
        if len(text) > limits.checklist_chars:
            coercion.report.cut(below(path, number), "characters", limits.checklist_chars, len(text))
        found.append(clamp_text(text, limits.checklist_chars))
    if not found:
        reason = "MissingField" if value is ABSENT else "EmptyField"
        raise _wrong(reason, name, "a list with an entry at least that is not blank")
    return found


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)
