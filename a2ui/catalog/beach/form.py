"""Form: fields whose values are sent together, once all of them are right (rulebook sections 11 to 13)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from a2ui.binding.values import Binding
from a2ui.catalog.actions import action
from a2ui.catalog.basic.checks import WAITS, failing, held
from a2ui.catalog.beach.controls import CONTROLS, READ_AS
from a2ui.catalog.beach.fields import REQUIRED, Field, fields, fields_shape
from a2ui.catalog.icons import UI_ALERT
from a2ui.catalog.kinds import checks, text
from a2ui.catalog.kinds import text as dynamic_text
from a2ui.components import BaseComponent, BaseInput
from a2ui.errors import ActionError, InputError
from a2ui.protocol.pieces import SEND
from a2ui.rendering.build import Build, always, told
from a2ui.rendering.place import Place
from a2ui.safety.text import escape
from a2ui.schema.dynamic import dynamic
from a2ui.schema.shapes import Check
from a2ui.state.components import Component

if TYPE_CHECKING:
    from a2ui.catalog.accepting import AcceptContext
    from a2ui.interaction.locate import Instance

_SUBMIT = "Send"
_LISTED = 5
_SUBMIT_TOKEN, _NEEDED_TOKEN = "-xs", "-xn"
_OF_BUTTON = ("fields", "value", "submitLabel", "action", "checks")


def _bound(raw: Any, where: AcceptContext) -> Any:
    """The binding of an object in the data model: one value for each field, by its id."""
    value = dynamic_text(raw, where)
    return value if isinstance(value, Binding) else where.wrong("a binding", raw)


def _no_literal(value: Any, path: str, check: Check) -> None:
    check.wrong(path, "a binding", value)


class Form(BaseInput):
    """Fields, and one button that sends their values as `values` of its event. What people enter is an edit of the data
    model as with any input (D45); before the event is sent, every value is looked at again."""

    name = "Form"
    properties = {
        "title": text,
        "fields": fields,
        "value": _bound,
        "submitLabel": text,
        "action": action,
        "checks": checks,
    }
    required = frozenset({"fields", "value", "action"})
    shapes = {"fields": fields_shape, "value": dynamic(_no_literal, "object")}

    def build(self, build: Build) -> None:
        heard, title = told(build), always(build.html("title"))
        label = always(build.labelled())
        pieces = [_field(build, at, field) for at, field in enumerate(build.props.get("fields", ()))]
        button, needs = _foot(build)
        start, css, role = f'<div id="{build.id}', build.classes("a2-formbox"), build.role()

        def render(scope: Any, context: str) -> str:
            words, name = title(scope), label(scope)
            named = name or f' aria-label="{words or "Form"}"'
            head = f'<h3 class="a2-h a2-h4">{words}</h3>' if words else ""
            inside = "".join([piece.render(scope, context) for piece in pieces])
            return (
                f'{start}{context}" class="{css}"{role}{heard}><div class="a2-form" role="form"{named}>'
                f'{head}{inside}<div class="a2-form__foot">{button.render(scope, context)}'
                f"{needs.render(scope, context)}</div></div></div>"
            )

        build.done(render)

    def entered(self, value: Any, instance: Instance) -> Any:
        """The values of some fields, by id, from who has no page; those of the others stay."""
        known: dict[str, Field] = {field.id: field for field in instance.component.props.get("fields", ())}
        if not isinstance(value, dict) or not value.keys() <= known.keys():
            raise InputError("A form takes values by the ids of its fields.")
        data = instance.evaluate(instance.component.props.get("value"))
        limits = instance.surface.view.options.limits
        changed = {key: known[key].entered(item, limits) for key, item in value.items()}
        return {**(data if isinstance(data, dict) else {}), **changed}

    def enclosed(self, instance: Instance) -> Mapping[str, Any]:
        return values_of(instance)


class FieldInput(BaseInput):
    """One field of a form, as the page edits it. No component of any catalog."""

    name = "FormField"
    properties = {}
    input_kind = "text"

    def build(self, build: Build) -> None:
        field: Field = build.props["field"]
        start, opened = f'<div id="{build.id}', f'" class="a2-field" data-in="{READ_AS[field.type]}">'
        label, hint = (always(build.escaped(value, build)) for value in (field.label, field.hint))
        control = CONTROLS[field.type](build, field)
        get, env = build.getter("value"), build.options.env
        missing = (
            f'<p class="a2-error a2-form__missing">{UI_ALERT}<span>{REQUIRED}</span></p>'
            if field.required
            else ""
        )

        def render(scope: Any, context: str) -> str:
            dom_id, stored = f"{build.id}{context}", get(scope)
            value = field.value({field.id: stored})
            # What nobody has touched is not wrong yet; the form says that it is needed.
            problem = field.problem(value, env) if stored is not None else ""
            said = f'<p class="a2-error">{UI_ALERT}<span>{escape(problem)}</span></p>' if problem else ""
            words, help_ = label(scope), hint(scope)
            about = [f"{dom_id}-xh"] if help_ else []
            about += [f"{dom_id}-xe"] if problem else []
            attributes = f' aria-describedby="{" ".join(about)}"' if about else ""
            if problem:
                attributes += ' aria-invalid="true"'
            if field.required:
                attributes += " required"
            note = f'<small class="a2-hint" id="{dom_id}-xh">{help_}</small>' if help_ else ""
            return (
                f"{start}{context}{opened}{control(scope, dom_id, words, value, attributes)}{note}{missing}"
                f'<div class="a2-errors" id="{dom_id}-xe" aria-live="polite">{said}</div></div>'
            )

        build.remember(render)

    def piece(self, props: Mapping[str, Any]) -> str:
        return str(props["field"].id)

    def entered(self, value: Any, instance: Instance) -> Any:
        field: Field = instance.component.props["field"]
        return field.entered(value, instance.surface.view.options.limits)


class SubmitButton(BaseComponent):
    """The button of a form, as the page presses it. No component of any catalog."""

    name = "FormSubmit"
    properties = {}
    interactive = True

    def build(self, build: Build) -> None:
        label, fails, waits = always(build.html("submitLabel")), failing(build, waiting=True), build.waits
        opened = '" class="a2-btn a2-btn--primary" type="button" data-act'

        def render(scope: Any, context: str) -> str:
            dom_id = f"{build.id}{context}"
            failures = fails(scope) if fails else []
            if waits is not None and waits(scope) and WAITS not in failures:
                failures = [*failures, WAITS]
            about = f' aria-describedby="{build.id}{context.removesuffix(_SUBMIT_TOKEN)}{_NEEDED_TOKEN}"'
            attributes, why = held(failures, dom_id, "") if failures else (about, "")
            return f'<button id="{dom_id}{opened}{attributes}>{label(scope) or _SUBMIT}{why}</button>'

        build.remember(render)

    def piece(self, props: Mapping[str, Any]) -> str:
        return SEND

    def enclosed(self, instance: Instance) -> Mapping[str, Any]:
        return values_of(instance)


class Needed(BaseComponent):
    """What a form still needs. No component of any catalog."""

    name = "FormNeeded"
    properties = {}

    def build(self, build: Build) -> None:
        shown: tuple[Field, ...] = build.props.get("fields", ())
        names = [(field, always(build.escaped(field.label, build))) for field in shown if field.required]
        get, env = build.getter("value"), build.options.env

        def render(scope: Any, context: str) -> str:
            data = get(scope)
            needed = [
                name(scope) for field, name in names if field.problem(field.value(data), env) == REQUIRED
            ]
            return f'<p id="{build.id}{context}" class="a2-form__needed" role="status">{_needed(needed)}</p>'

        build.remember(render)


def _needed(names: list[str]) -> str:
    if not names:
        return ""
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return f"Still needed: {', '.join(names[:_LISTED])}{more}"


_FIELD, _BUTTON, _NEEDS = FieldInput(), SubmitButton(), Needed()


def _field(build: Build, at: int, field: Field) -> Place:
    """The place of a field, compiled: its value is a member of what the form is bound to."""
    bound = build.props.get("value")
    value = Binding((*bound.tokens, field.id), bound.absolute) if isinstance(bound, Binding) else None
    return _piece(build, f"xf{at}", _FIELD, {"field": field, "value": value})


def _foot(build: Build) -> tuple[Place, Place]:
    """The places of the button and of what is said beside it."""
    props = {key: build.props[key] for key in _OF_BUTTON if key in build.props}
    return (
        _piece(build, _SUBMIT_TOKEN[1:], _BUTTON, props),
        _piece(build, _NEEDED_TOKEN[1:], _NEEDS, props),
    )


def _piece(build: Build, token: str, kind: BaseComponent, props: dict[str, Any]) -> Place:
    around = build.place.component
    place = build.view.make_piece(build.place, token)
    if around is not None:
        part = Component(around.id, kind.name, kind, {}, props, around.notation)
        part.number = around.number
        place.component = part
        inner = Build(build.view, place, part)
        inner.waits = build.waits
        kind.build(inner)
    place.morphs = True
    return place


def values_of(instance: Instance) -> dict[str, Any]:
    """`{"values": ...}`, all fields by id. Raises ActionError (`invalid`) where one of them is not right."""
    props, env = instance.component.props, instance.surface.view.options.env
    data = instance.evaluate(props.get("value"))
    found, wrong = {}, []
    for field in props.get("fields", ()):
        value = field.value(data)
        problem = field.problem(value, env)
        if problem:
            name = str(instance.evaluate(field.label) or field.id)
            wrong.append(f"{name[:60]}: {problem}")
        found[field.id] = value
    if wrong:
        raise ActionError(" ".join(wrong[:_LISTED]), code="invalid")
    return {"values": found}
