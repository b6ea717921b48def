"""The fields of a form: what an agent says of them, and what is wrong with a value."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from typing import Any, Final, NamedTuple

from a2ui.binding.secrets import is_secret
from a2ui.binding.values import Value
from a2ui.catalog.accepting import AcceptContext
from a2ui.catalog.beach.lists import Member, listed
from a2ui.data.pointer import ABSENT
from a2ui.errors import InputError
from a2ui.functions.basic import BASIC
from a2ui.functions.convert import to_number
from a2ui.functions.registry import Env
from a2ui.safety.limits import Limits
from a2ui.safety.text import number_text
from a2ui.schema import shapes
from a2ui.schema.dynamic import dynamic_string
from a2ui.schema.shapes import Check

TYPES: Final = ("text", "longText", "email", "number", "date", "select", "checkbox")

_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,63}")
_FORBIDDEN: Final = frozenset({"__proto__", "prototype", "constructor"})
_MEMBERS: Final = (
    "id", "label", "type", "hint", "placeholder", "required", "default", "min", "max", "step", "options",
)  # fmt: skip
_BELONGS: Final[Mapping[str, frozenset[str]]] = {
    "placeholder": frozenset({"text", "longText", "email", "number"}),
    "min": frozenset({"number", "date"}),
    "max": frozenset({"number", "date"}),
    "step": frozenset({"number"}),
    "options": frozenset({"select"}),
}
_EMAIL: Final = BASIC.by_name["email"]
_STEP_SLACK: Final = 1e-9
REQUIRED: Final = "This is required."


def is_field_id(name: object) -> bool:
    """Whether a field may have this id."""
    return isinstance(name, str) and _NAME.fullmatch(name) is not None and name not in _FORBIDDEN


class Choice(NamedTuple):
    """One option of a select."""

    label: Value
    value: str


class Field(NamedTuple):
    """One field: `id` is the key of its value."""

    id: str
    label: Value
    type: str
    hint: Value = ""
    placeholder: Value = ""
    required: bool = False
    default: Any = None
    min: Any = None
    max: Any = None
    step: float | None = None
    options: tuple[Choice, ...] = ()

    def entered(self, value: Any, limits: Limits) -> Any:
        """What to store for what the browser sent, which may be wrong so far; raises InputError for what cannot be a
        value of this field at all."""
        if self.type == "checkbox":
            if not isinstance(value, bool):
                raise InputError("A box is ticked or not.")
            return value
        if self.type == "number" and not isinstance(value, bool) and isinstance(value, int | float):
            return value
        if self.type == "select" and isinstance(value, list) and len(value) <= 1:
            # As a ChoicePicker says it, which stands in place of one for who does not know our catalog.
            value = value[0] if value else ""
        if not isinstance(value, str):
            raise InputError("This field takes text.")
        if len(value) > limits.text_chars:
            message = f"A text has at most {limits.text_chars} characters."
            raise InputError(message, code="budget_exceeded", limit="text_chars")
        if self.type == "number" and value.strip():
            number = to_number(value)
            if number is None:
                raise InputError("This is not a number.")
            return number
        if self.type == "select" and value and all(value != option.value for option in self.options):
            raise InputError("This is not one of the options.")
        return value.strip() if self.type == "number" else value

    def value(self, data: Any) -> Any:
        """The value in the data of the form, the default where it has none."""
        found = data.get(self.id) if isinstance(data, dict) else None
        if found is None:
            found = self.default
        if found is None:
            return False if self.type == "checkbox" else None if self.type == "number" else ""
        return None if self.type == "number" and found == "" else found

    def problem(self, value: Any, env: Env) -> str:
        """What is wrong with a value, "" for nothing."""
        if value is None or value is False or (isinstance(value, str) and not value.strip()):
            return REQUIRED if self.required else ""
        if is_secret(value):
            return ""
        return _PROBLEMS[self.type](self, value, env)


def _text(field: Field, value: Any, env: Env) -> str:
    return "" if isinstance(value, str | int | float) else "This is not a text."


def _email(field: Field, value: Any, env: Env) -> str:
    if isinstance(value, str) and _EMAIL.evaluate({"value": value.strip()}, env):
        return ""
    return "This is not an e-mail address."


def _number(field: Field, value: Any, env: Env) -> str:
    number = None if isinstance(value, bool) else to_number(value)
    if number is None:
        return "This is not a number."
    if field.min is not None and number < field.min:
        return f"Give {number_text(field.min)} or more."
    if field.max is not None and number > field.max:
        return f"Give {number_text(field.max)} or less."
    if field.step is not None and not _is_multiple(number, field.min or 0, field.step):
        return f"Give a multiple of {number_text(field.step)}" + (
            f", counted from {number_text(field.min)}." if field.min else "."
        )
    return ""


def _is_multiple(number: float, first: float, step: float) -> bool:
    """Whether it is so many steps from the first one, as far as numbers can tell."""
    if type(number) is type(first) is type(step) is int:
        return (number - first) % step == 0
    try:
        steps = (float(number) - float(first)) / float(step)
        return abs(steps - round(steps)) <= _STEP_SLACK * max(1.0, abs(steps))
    except OverflowError:
        # Steps of so little that nothing lies between them, or numbers that are beyond all that are counted.
        return True


def _date(field: Field, value: Any, env: Env) -> str:
    if not _is_day(value):
        return "This is not a date."
    if field.min is not None and value < field.min:
        return f"Choose {field.min} or later."
    if field.max is not None and value > field.max:
        return f"Choose {field.max} or earlier."
    return ""


def _select(field: Field, value: Any, env: Env) -> str:
    return "" if any(value == option.value for option in field.options) else "This is not one of the options."


def _checkbox(field: Field, value: Any, env: Env) -> str:
    return "" if isinstance(value, bool) else "This is ticked or not."


_PROBLEMS = {
    "text": _text, "longText": _text, "email": _email, "number": _number, "date": _date, "select": _select,
    "checkbox": _checkbox,
}  # fmt: skip


def _is_day(value: Any) -> bool:
    if not isinstance(value, str) or not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", value):
        return False
    try:
        date.fromisoformat(value)
    except ValueError:
        return False
    return True


# ---- as an agent says it


def fields(raw: Any, where: AcceptContext) -> Any:
    """A tuple of Field with different ids."""
    found = listed(raw, where, "fields", _field)
    if found is ABSENT:
        return found
    known: dict[str, Field] = {}
    for field in found:
        if field.id in known:
            where.add(f"Two fields have the id {field.id!r}; the first is shown.")
        known.setdefault(field.id, field)
    return tuple(known.values())


def _field(given: Member) -> Field | None:
    given.only(_MEMBERS)
    name = given.word("id")
    if not is_field_id(name):
        given.wrong("id", "an identifier of at most 64 characters", given.raw.get("id", ...), quoted=True)
        return None
    kind = given.one_of("type", TYPES, "text")
    for key, kinds in _BELONGS.items():
        if key in given.raw and kind not in kinds:
            given.tell(key, f"A field of the type {kind} has no {key}.")
    low, high = (_bound(given, key, kind) for key in ("min", "max"))
    if low is not None and high is not None and high < low:
        given.wrong("max", "no less than min", high)
        high = None
    step = given.number("step") if kind == "number" else None
    if step is not None and step <= 0:
        given.wrong("step", "a number above 0", step)
        step = None
    options = _options(given) if kind == "select" else ()
    field = Field(
        name,
        given.text("label", name),
        kind,
        given.text("hint"),
        given.text("placeholder"),
        given.flag("required"),
        None,
        low,
        high,
        step,
        options,
    )
    default = given.raw.get("default")
    if default is None:
        return field
    try:
        stored = field.entered(default, given.where.limits)
    except InputError:
        given.wrong("default", f"a value of a field of the type {kind}", default)
        return field
    return field._replace(default=stored)


def _bound(given: Member, key: str, kind: str) -> Any:
    if kind == "number":
        return given.number(key)
    if kind != "date" or key not in given.raw:
        return None
    found = given.raw[key]
    if _is_day(found):
        return found
    given.wrong(key, "a date (YYYY-MM-DD)", found, quoted=True)
    return None


def _options(given: Member) -> tuple[Choice, ...]:
    raw = given.raw.get("options")
    if not isinstance(raw, list) or not given.where.takes(raw):
        given.wrong("options", "a list of options", raw)
        return ()
    found: dict[str, Choice] = {}
    for at, entry in enumerate(raw[: given.where.limits.options]):
        value = entry.get("value") if isinstance(entry, dict) else entry
        if not isinstance(value, str) or not value:
            given.wrong(f"options/{at}", "a text, or an object with label and value", entry)
        elif value in found:
            given.tell(f"options/{at}", "Two options have the same value; the first is shown.")
        else:
            inner = given.below("options", at) if isinstance(entry, dict) else None
            found[value] = Choice(inner.text("label", value) if inner else value, value)
    return tuple(found.values())


def _default(value: Any, path: str, check: Check) -> None:
    if type(value) not in (str, int, float, bool):
        check.wrong(path, "a value", value)


def _option(value: Any, path: str, check: Check) -> None:
    if type(value) is not str:
        _pair(value, path, check)


def _end(value: Any, path: str, check: Check) -> None:
    if type(value) not in (str, int, float):
        check.wrong(path, "a number or a date", value)


_pair = shapes.record({"value": shapes.string}, {"label": dynamic_string})
fields_shape = shapes.list_of(
    shapes.record(
        {"id": shapes.string, "label": dynamic_string},
        {
            "type": shapes.one_of(*TYPES),
            "hint": dynamic_string,
            "placeholder": dynamic_string,
            "required": shapes.boolean,
            "default": _default,
            "min": _end,
            "max": _end,
            "step": shapes.number,
            "options": shapes.list_of(_option, at_least=1),
        },
    ),
    at_least=1,
)
