"""What a page asks for: a program, a position in it, what was done since, the switches. All of it is hostile."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from a2ui.errors import A2uiError, LimitError
from a2ui.functions.locales import find_locale
from a2ui.programs.conversion import TARGETS, Converted, convert
from a2ui.programs.reading import parse_json, read_program
from a2ui.safety.limits import DEFAULT_LIMITS, KIB

PROGRAM_BYTES = DEFAULT_LIMITS.message_bytes
MESSAGES = 500
DOINGS = 300
JOURNAL_BYTES = 256 * KIB

LOCALES = {
    "en-US": "English (US)",
    "en-GB": "English (UK)",
    "de-DE": "German",
    "fr-FR": "French",
    "pl-PL": "Polish",
    "ja-JP": "Japanese",
    "ar-EG": "Arabic, right to left",
    "he-IL": "Hebrew, right to left",
}
ZONES = ("UTC", "Europe/Berlin", "America/New_York", "Asia/Kathmandu", "Asia/Tokyo")
VERSIONS: dict[str, str] = {"": "Version as written"} | {target: f"As {target}" for target in TARGETS}
WIDTHS = {"fit": "Fit", "390": "390", "768": "768", "full": "Full"}
THEMES = {"page": "Page", "light": "Light", "dark": "Dark"}

_PLACE = re.compile(r"line (\d+) column (\d+)")


class Refused(A2uiError):
    """The page asked for something unknown."""

    default_code = "refused"
    default_fault = "client"


class Doing(BaseModel):
    """Something a person did after message `at`: a row of the journal. `ms` is when, as the server told it."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    at: int = Field(ge=0, le=MESSAGES)
    type: Literal["edit", "action", "show"]
    target: str = Field(max_length=2_000)
    value: Any = None
    ms: int = Field(default=0, ge=0, le=4_102_444_800_000)


_JOURNAL = TypeAdapter(list[Doing])
_DOING = TypeAdapter(Doing)


@dataclass(frozen=True, slots=True)
class PlayRequest:
    """`program` is what runs, `draft` the text in the editor. `step` counts messages: 0 is before the first."""

    program: str = ""
    draft: str = ""
    step: int = MESSAGES
    journal: tuple[Doing, ...] = ()
    sample: str = ""
    locale: str = "en-US"
    timezone: str = "UTC"
    version: str = ""
    width: str = "fit"
    theme: str = "page"
    strict: bool = False

    @property
    def rtl(self) -> bool:
        """Whether the chosen language is written from right to left."""
        return find_locale(self.locale).text_direction == "rtl"

    def converted(self) -> Converted:
        """The program in the version that was chosen, and what that cannot say. Raises A2uiError: no JSON, or too
        long."""
        messages = read(self.program)
        for target in TARGETS:
            if self.version == target:
                done = convert(messages, target)
                # One message may become several.
                _few(done.messages)
                return done
        return Converted(messages, [])

    def messages(self) -> list[Any]:
        """The messages of `converted`. Raises what that raises."""
        return self.converted().messages

    def doing(self, doing: Doing) -> PlayRequest:
        """With one more row. An edit takes the place of one just before it of the same field."""
        rows = [row for row in self.journal if row.at <= doing.at]
        later = self.journal[len(rows) :]
        if rows and rows[-1].type == doing.type == "edit":
            last = rows[-1]
            if (last.at, last.target) == (doing.at, doing.target):
                rows.pop()
        if len(rows) + len(later) >= DOINGS:
            raise LimitError(f"The page keeps at most {DOINGS} edits and clicks. Start over to go on.")
        return replace(self, journal=(*rows, doing, *later))


def read(text: str) -> list[Any]:
    """The messages of a text. Raises A2uiError, with `line` and `column` in its facts where there is a place."""
    size = len(text.encode("utf-8", "replace"))
    if size > PROGRAM_BYTES:
        raise LimitError(f"The program has {size:,} bytes; at most {PROGRAM_BYTES:,} are run.")
    if not text.strip():
        raise Refused("There is no program. Paste a list of messages, or one message on each line.")
    try:
        messages = read_program(text)
    except A2uiError as error:
        found = _PLACE.search(error.message)
        line, column = (int(found[1]), int(found[2])) if found else (0, 0)
        error.facts = {"line": error.facts.get("line", line), "column": column}
        raise
    return _few(messages)


def _few(messages: list[Any]) -> list[Any]:
    if len(messages) > MESSAGES:
        raise LimitError(f"The program has {len(messages):,} messages; at most {MESSAGES} are run.")
    return messages


def requested(fields: Mapping[str, Any]) -> PlayRequest:
    """What the fields of a form, or of a query, ask for. Raises A2uiError for what no page of ours would send."""
    return PlayRequest(
        program=_text(fields, "program"),
        draft=_text(fields, "draft"),
        step=_step(fields),
        journal=journal(_text(fields, "journal")),
        sample=_text(fields, "sample")[:200],
        locale=_choice(fields, "locale", LOCALES, "en-US"),
        timezone=_choice(fields, "timezone", ZONES, "UTC"),
        version=_choice(fields, "version", VERSIONS, ""),
        width=_choice(fields, "width", WIDTHS, "fit"),
        theme=_choice(fields, "theme", THEMES, "page"),
        strict=bool(fields.get("strict")),
    )


def journal(text: str) -> tuple[Doing, ...]:
    """The rows of a journal. Raises A2uiError."""
    if not text:
        return ()
    if len(text.encode("utf-8", "replace")) > JOURNAL_BYTES:
        raise LimitError(f"The journal has more than {JOURNAL_BYTES:,} bytes. Start over to go on.")
    value = parse_json(text)
    if isinstance(value, list) and len(value) > DOINGS:
        raise LimitError(f"The journal has more than {DOINGS} rows. Start over to go on.")
    try:
        # In the order of the steps, whatever order they came in: what was done earlier is played earlier.
        return tuple(sorted(_JOURNAL.validate_python(value), key=lambda row: row.at))
    except ValidationError as error:
        raise Refused(f"The journal is none: {error.errors()[0]['msg']}.") from None


def new_doing(text: str, *, at: int, ms: int) -> Doing:
    """What a person just did, as the page tells it. Raises A2uiError."""
    if len(text.encode("utf-8", "replace")) > JOURNAL_BYTES:
        raise LimitError(f"An edit has at most {JOURNAL_BYTES:,} bytes.")
    value = parse_json(text)
    if not isinstance(value, dict):
        raise Refused("This is nothing that can be done.")
    try:
        return _DOING.validate_python({**value, "at": at, "ms": ms})
    except ValidationError as error:
        raise Refused(f"This is nothing that can be done: {error.errors()[0]['msg']}.") from None


def written_journal(rows: tuple[Doing, ...]) -> str:
    """The journal as the page keeps it."""
    # Not by pydantic: it refuses half a surrogate pair, which a browser can send.
    return json.dumps([vars(row) for row in rows], ensure_ascii=False, separators=(",", ":")) if rows else ""


def _text(fields: Mapping[str, Any], name: str) -> str:
    # Browsers send forms with CRLF, whatever stands in the field.
    return str(fields.get(name, "")).replace("\r\n", "\n")


def _choice(fields: Mapping[str, Any], name: str, known: Any, default: str) -> str:
    value = str(fields.get(name) or default)
    if value not in known:
        raise Refused(f"There is no {name} {value[:40]!r}.")
    return value


def _step(fields: Mapping[str, Any]) -> int:
    # A button says where to go; without one the page stays where it is.
    text = str(fields.get("step") or fields.get("at") or MESSAGES)
    if not text.isascii() or not text.isdigit() or len(text) > 6:
        raise Refused(f"There is no step {text[:40]!r}.")
    return min(int(text), MESSAGES)
