"""A document in its normal form as an A2UI surface, drawn as any other: by components of our own catalog and of the
Basic Catalog (reading 9).

What changes often stands in the data model, so a patch of a cell is a write to the data model. The ids of components
are those of the document behind ``c-``: none of them can be the root, or a reserved name.
"""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext as _

from a2ui.compose import (
    Accessibility,
    Card,
    Column,
    Component,
    Event,
    Icon,
    Row,
    Surface,
    Text,
    changes,
    each,
    path,
    plain,
)
from a2ui.compose.beach import Chart, Form, Markdown, Table, column, field, series
from envelopes.transports.documents.formats import experimental
from envelopes.transports.documents.formats.submitted import field_key
from envelopes.types import JsonObject

SUBMIT = "submit"
"""The event of a form: ``{componentId, values}``, the values by the keys of its fields."""

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


def placeholder_of(surface: str) -> JsonObject:
    """The same for what stands in the place of a document that is not to be seen."""
    words = Text(_("This isn’t available right now."), variant="caption", id="blocked")
    (message,) = Surface(surface, Column(words)).create()
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
            return Markdown(props["value"] or "No content.", id=key)
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
    columns = list(enumerate(props["columns"]))
    data[key] = {"rows": [{str(at): row[at] for at, _ in columns} for row in props["rows"]]}
    heads = [column(name, path(str(at)), rowHeader=at == 0) for at, name in columns]
    return Table(
        path(f"/{key}/rows"),
        heads,
        empty="No table rows",
        accessibility=Accessibility(label=key.removeprefix(key_of(""))),
        id=key,
    )


def _chart(key: str, props: JsonObject, data: JsonObject) -> Component:
    data[key] = {"points": props["series"]}
    bars = [series(props["title"], path("value"))]
    return Chart("bar", path(f"/{key}/points"), path("label"), bars, title=props["title"], id=key)


def _form(key: str, name: str, props: JsonObject, data: JsonObject) -> Component:
    data[key] = {field_key(one["id"]): one["defaultValue"] for one in props["fields"]}
    return Form(
        [_field(one) for one in props["fields"]],
        path(f"/{key}"),
        Event(SUBMIT, {"componentId": name}),
        title=props["title"],
        submitLabel=props["submitLabel"],
        id=key,
    )


def _field(given: JsonObject) -> dict[str, Any]:
    more = {name: given[name] for name in ("min", "max", "step", "options", "placeholder") if name in given}
    return field(
        field_key(given["id"]),
        given["label"],
        given["type"],
        hint=given["hint"],
        required=given["required"],
        **more,
    )


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
