"""A document in its normal form as an A2UI surface, drawn as any other (reading 9).

What changes often stands in the data model, so a patch of a cell is a write to the data model. The ids of components
are those of the document behind ``c-``: none of them can be the root, or a reserved name.
"""

from __future__ import annotations

from typing import Any

from a2ui.compose import (
    Button,
    Card,
    ChoicePicker,
    Column,
    Component,
    Event,
    Icon,
    Row,
    Surface,
    Text,
    changes,
    check,
    each,
    fn,
    option,
    path,
    plain,
)
from a2ui.compose import CheckBox as Check
from a2ui.compose import TextField as Field
from envelopes.transports.documents.formats import experimental
from envelopes.types import JsonObject

SUBMIT = "submit"
"""The event of a form: ``{componentId, values}``, the values by the ids of its fields."""

_ICONS = {"success": "check", "critical": "error"}
_STAGES = {
    "disabled": "Disabled",
    "dark_launch": "Dark launch",
    "operator_preview": "Operator preview",
    "limited_preview": "Limited preview",
}
_MODES = {"disabled": "Disabled", "push_to_talk": "Push-to-talk only"}


def surface_of(document: JsonObject) -> JsonObject:
    """The body of the ``createSurface`` message that shows it."""
    data: JsonObject = {}
    children = [_component(component, data) for component in document["components"]]
    block = experimental.read(document)
    if block is not None:
        children.insert(0, _banner(block))
    if not document["components"]:
        children.append(Text("No renderable components", variant="caption", id="empty"))
    (message,) = Surface(document["surface"], Column(*children), data).create()
    body: JsonObject = message["createSurface"]
    return body


def messages_between(before: JsonObject | None, after: JsonObject) -> list[JsonObject]:
    """The A2UI messages from one document of a surface to another, as few as it takes; None for none before."""
    made = surface_of(after)
    if before is None:
        return [{"version": "1.0", "createSurface": made}]
    return changes(surface_of(before), made)


def key_of(name: str) -> str:
    """What a component of a document is called on its surface, and in the data model."""
    return f"c-{name}"


def _component(component: JsonObject, data: JsonObject) -> Component:
    key, props = key_of(component["id"]), component["props"]
    match component["type"]:
        case "text":
            return _text(key, props)
        case "markdown":
            return Text(props["value"] or "No content.", id=key)
        case "list":
            return _list(key, props, data)
        case "table":
            return _table(key, props, data)
        case "form":
            return _form(key, component["id"], props, data)
        case _:
            return _chart(key, props, data)


def _text(key: str, props: JsonObject) -> Component:
    words, tone = plain(props["value"]), props["tone"]
    if tone in _ICONS:
        # Not by colour alone, and by nothing that was sent.
        icon = Icon(_ICONS[tone], id=f"{key}-icon")  # type: ignore[arg-type]  # names of the catalog
        return Row(icon, Text(words, id=f"{key}-text"), align="center", id=key)
    return Text(words, variant="caption" if tone == "muted" else "body", id=key)


def _list(key: str, props: JsonObject, data: JsonObject) -> Component:
    items = [
        {"text": f"{number}\\. {words}" if props["ordered"] else f"• {words}"}
        for number, words in enumerate(map(plain, props["items"]), start=1)
    ]
    data[key] = {"items": items}
    return Column(each(f"/{key}/items", Text(path("text"), id=f"{key}-item")), id=key)


def _table(key: str, props: JsonObject, data: JsonObject) -> Component:
    columns = range(len(props["columns"]))
    data[key] = {"rows": [{str(at): plain(row[at]) for at in columns} for row in props["rows"]]}
    heads = [
        Text(f"**{plain(name)}**" if name else "", weight=1, id=f"{key}-head-{at}")
        for at, name in enumerate(props["columns"])
    ]
    cells = [Text(path(str(at)), weight=1, id=f"{key}-cell-{at}") for at in columns]
    body: Component = Column(each(f"/{key}/rows", Row(*cells, id=f"{key}-row")), id=f"{key}-rows")
    if not props["rows"]:
        body = Text("No table rows", variant="caption", id=f"{key}-rows")
    return Column(Row(*heads, id=f"{key}-heads"), body, id=key)


def _chart(key: str, props: JsonObject, data: JsonObject) -> Component:
    points = [{"label": plain(point["label"]), "value": point["value"]} for point in props["series"]]
    data[key] = {"points": points}
    point = Row(
        Text(path("label"), weight=1, id=f"{key}-label"),
        Text(fn.formatNumber(path("value")), id=f"{key}-value"),
        id=f"{key}-point",
    )
    return Column(
        Text(f"#### {plain(props['title'])}", id=f"{key}-title"),
        Column(each(f"/{key}/points", point), id=f"{key}-points"),
        id=key,
    )


# -- forms ------------------------------------------------------------------------------------------------------------


def _form(key: str, name: str, props: JsonObject, data: JsonObject) -> Component:
    data[key] = {field["id"]: _first(field) for field in props["fields"]}
    rules = [rule for field in props["fields"] for rule in _rules(key, field)]
    values = {field["id"]: path(f"/{key}/{field['id']}") for field in props["fields"]}
    submit = Button(
        Text(plain(props["submitLabel"]), id=f"{key}-label"),
        Event(SUBMIT, {"componentId": name, "values": values}),
        variant="primary",
        checks=rules or None,
        id=f"{key}-submit",
    )
    fields = [
        part
        for number, field in enumerate(props["fields"])
        for part in _field(key, f"{key}-field-{number}", field)
    ]
    title = Text(f"#### {plain(props['title'])}", id=f"{key}-title")
    return Card(Column(title, *fields, submit, id=f"{key}-column"), id=key)


def _first(field: JsonObject) -> Any:
    """What a field holds at first, as its input keeps it."""
    value = field["defaultValue"]
    return [value] if field["type"] == "select" else value


def _field(key: str, name: str, field: JsonObject) -> list[Component]:
    label, value = plain(field["label"]), path(f"/{key}/{field['id']}")
    checks = _rules(key, field) or None
    shown: Component
    if field["type"] == "checkbox":
        shown = Check(label, value, checks=checks, id=name)
    elif field["type"] == "select":
        options = [option(one["label"], one["value"]) for one in field["options"]]
        shown = ChoicePicker(options, value, label=label, variant="mutuallyExclusive", checks=checks, id=name)
    elif field["type"] == "number":
        shown = Field(label, value=value, variant="number", checks=checks, id=name)
    else:
        placeholder = field["placeholder"] or None
        shown = Field(
            label, value=value, placeholder=placeholder, variant="shortText", checks=checks, id=name
        )
    if not field["hint"]:
        return [shown]
    return [shown, Text(plain(field["hint"]), variant="caption", id=f"{name}-hint")]


def _rules(key: str, field: JsonObject) -> list[Any]:
    value, rules = path(f"/{key}/{field['id']}"), []
    if field["required"]:
        needed = value if field["type"] == "checkbox" else fn.required(value)
        rules.append(check(needed, "This is required."))
    if field["type"] == "email":
        rules.append(check(_if_any(value, fn.email(value)), "This is no e-mail address."))
    if field["type"] == "number":
        least, most = field["min"], field["max"]
        told = f"This has to be a number from {least} to {most}."
        rules.append(check(_if_any(value, fn.numeric(value, min=least, max=most)), told))
    return rules


def _if_any(value: Any, condition: Any) -> Any:
    """``condition``, where there is something."""
    return fn.any_of(fn.is_not(fn.required(value)), condition)


# -- what is in rollout -----------------------------------------------------------------------------------------------


def _banner(block: experimental.Experimental) -> Component:
    facts = {
        "Feature flag": block.feature_flag,
        "Ambient mode": _MODES[block.ambient_mode],
        "Consent": "required" if block.consent_required else "not required",
    }
    lists = {"Security review": block.security_review, "Exit criteria": block.exit_criteria}
    lines = [
        Text("Experimental surface", variant="caption", id="x-eyebrow"),
        Text(f"#### {plain(block.track_id)}", id="x-track"),
        Text(_STAGES[block.rollout_stage], variant="caption", id="x-stage"),
        Text(plain(block.support_summary), id="x-summary"),
        *(
            Text(f"**{name}:** {plain(words)}", id=f"x-fact-{at}")
            for at, (name, words) in enumerate(facts.items())
        ),
        *(
            Text(
                "\n".join([f"**{name}**", "", *(f"- {plain(entry)}" for entry in entries)]), id=f"x-list-{at}"
            )
            for at, (name, entries) in enumerate(lists.items())
        ),
    ]
    return Card(Column(*lines, id="x-lines"), id="x-banner")
