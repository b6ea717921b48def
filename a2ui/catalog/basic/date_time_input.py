"""DateTimeInput (rulebook 12, 16)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime, time, tzinfo
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from a2ui.catalog.basic.checks import Annotated
from a2ui.catalog.basic.text_field import bound_as
from a2ui.catalog.kinds import checks, literal_boolean, text
from a2ui.components import BaseInput
from a2ui.errors import InputError
from a2ui.functions.dates import parse_date
from a2ui.rendering.build import Build, always
from a2ui.schema.parts import moment

if TYPE_CHECKING:
    from a2ui.interaction.locate import Instance

Mode: TypeAlias = Literal["date", "time", "datetime-local"]

_TIME = re.compile(
    r"([01][0-9]|2[0-3]):([0-5][0-9])(?::[0-5][0-9](?:\.[0-9]+)?)?(?:Z|[+-][0-9]{2}:?[0-9]{2})?"
)
_ENTERED: Mapping[Mode, re.Pattern[str]] = {
    "date": re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}"),
    "time": re.compile(r"[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,3})?)?"),
    "datetime-local": re.compile(
        r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,3})?)?"
    ),
}
_FORMATS: Mapping[Mode, int] = {"date": 10, "time": 5, "datetime-local": 16}
_NAMES: Mapping[Mode, str] = {"date": "Date", "time": "Time", "datetime-local": "Date and time"}
_MAX_CHARS = 64


class DateTimeInput(BaseInput):
    """A native date, time or date-and-time field. Instants are shown in the zone of the session."""

    name = "DateTimeInput"
    properties = {
        "value": text,
        "enableDate": literal_boolean,
        "enableTime": literal_boolean,
        "min": text,
        "max": text,
        "label": text,
        "checks": checks,
    }
    required = frozenset({"value"})
    shapes = {"min": moment, "max": moment}
    input_kind = "date"

    def build(self, build: Build) -> None:
        props = build.props
        mode, zone = _mode(props), build.options.timezone
        start, notes = f'<div id="{build.id}', Annotated(build, _NAMES[mode])
        value = build.value("value")
        field = f'" class="{build.classes("a2-field")}"{bound_as(value, "date")}{build.role()}>'
        label = always(build.html("label"))
        get = always(value)
        bounds = [(name, build.getter(name)) for name in ("min", "max") if name in props]

        def render(scope: Any, context: str) -> str:
            dom_id = f"{build.id}{context}"
            failures = notes.failures(scope)
            words = label(scope)
            title = f'<label class="a2-label" for="{dom_id}-xi">{words}</label>' if words else ""
            about = notes.control(dom_id, words, failures, scope)
            shown = [(name, shown_as(bound(scope), mode, zone)) for name, bound in bounds]
            limits = "".join([f' {name}="{value}"' for name, value in shown if value])
            return (
                f'{start}{context}{field}{title}<input id="{dom_id}-xi" class="a2-input" type="{mode}"{limits}'
                f' value="{shown_as(get(scope), mode, zone)}"{about}>'
                f"{notes.below(dom_id, failures, scope)}</div>"
            )

        build.remember(render)

    def entered(self, value: Any, instance: Instance) -> Any:
        """Without zone as entered; where the stored value has a zone, with the offset of the session's zone."""
        if value == "":
            return ""
        props, zone = instance.component.props, instance.surface.view.options.timezone
        mode = _mode(props)
        if not isinstance(value, str) or not _ENTERED[mode].fullmatch(value):
            raise InputError("This is not a date or time of the expected form.")
        text = shown_as(value, mode, zone)
        if not text:
            raise InputError("There is no such date or time.")
        low, high = (shown_as(instance.evaluate(props.get(name)), mode, zone) for name in ("min", "max"))
        if low and text < low:
            raise InputError(f"Choose {low.replace('T', ' ')} or later.")
        if high and text > high:
            raise InputError(f"Choose {high.replace('T', ' ')} or earlier.")
        stored = parse_date(instance.evaluate(props.get("value")))
        return (
            _in_zone(text, stored, mode, zone) if stored is not None and stored.tzinfo is not None else text
        )


def _mode(props: Mapping[str, Any]) -> Mode:
    """Neither flag means both (rulebook section 21, point 29)."""
    date, clock = props.get("enableDate") is True, props.get("enableTime") is True
    return "date" if date and not clock else "time" if clock and not date else "datetime-local"


def shown_as(value: Any, mode: Mode, zone: tzinfo) -> str:
    """The value as a native control takes it, "" for what is no date or time: browsers blank anything else."""
    if mode == "time" and isinstance(value, str) and len(value) <= _MAX_CHARS:
        found = _TIME.fullmatch(value.strip())
        if found is not None:
            return f"{found[1]}:{found[2]}"
    moment = parse_date(value)
    if moment is None:
        return ""
    if moment.tzinfo is not None:
        try:
            moment = moment.astimezone(zone)
        except OverflowError:
            return ""
    text = moment.replace(tzinfo=None).isoformat(timespec="minutes")
    return text[11:16] if mode == "time" else text[: _FORMATS[mode]]


def _in_zone(text: str, stored: datetime, mode: Mode, zone: tzinfo) -> str:
    """The entered text as an instant; what this control does not show comes from the stored instant."""
    here = stored.astimezone(zone)
    if mode == "time":
        moment = datetime.combine(here.date(), time.fromisoformat(text))
    elif mode == "date":
        moment = datetime.combine(datetime.fromisoformat(text).date(), here.time())
    else:
        moment = datetime.fromisoformat(text)
    return moment.replace(tzinfo=zone).isoformat(timespec="seconds")
