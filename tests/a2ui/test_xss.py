"""Hostile texts in every place of the engine that they name, judged by the shared oracle."""

from __future__ import annotations

import contextlib
import re
from typing import Any

import pytest

from a2ui import ActionError, Engine, EngineOptions
from a2ui.programs.conversion import convert
from tests.a2ui.programs import call, create, message, path, row
from tests.shared import caselib, needs_shared, xss_payloads

pytestmark = [pytest.mark.shared, needs_shared]

EVENT = {"event": {"name": "go"}}


HOSTS = frozenset({"benign.example", "ok.example", "evil.example"})


def render(
    rows: list[dict[str, Any]],
    model: Any = None,
    *,
    theme: Any = None,
    surface: str = "s",
    hosts: Any = HOSTS,
) -> str:
    """The HTML of pages with this surface, as 0.9 and as 1.0 say it; "" if the message is refused, which is a pass as
    well."""
    program = [
        create(surface, **({"theme": theme} if theme is not None else {})),
        message("updateComponents", surface, components=rows),
    ]
    if model is not None:
        program.append(message("updateDataModel", surface, value=model))
    engine = Engine(EngineOptions(image_hosts=hosts, debug=True))
    html = ""
    for messages in (program, convert(program, "1.0").messages):
        surfaces = engine.surfaces()
        for one in messages:
            surfaces.apply(one)
        html += "".join([change.html for change in surfaces.flush()])
    assert not re.search(
        r"\son[a-z]+=|<script|\sstyle=", re.sub(r'="[^"]*"|>[^<]*', "=", html), re.IGNORECASE
    )
    return html


def column(*rows: dict[str, Any]) -> list[dict[str, Any]]:
    names = [one["id"] for one in rows if not one["id"].startswith("_")]
    return [row("root", "Column", children=names), *rows]


def text(value: Any) -> str:
    return render(column(row("a", "Text", text=value), row("b", "Text", text=path("/t"))), {"t": value})


def url(value: str, hosts: Any = HOSTS) -> str:
    rows = [
        row(f"{kind}{n}", kind, url=v)
        for kind in ("Image", "Video", "AudioPlayer")
        for n, v in ((1, value), (2, path("/u")))
    ]
    return render(column(*rows), {"u": value}, theme={"iconUrl": value}, hosts=hosts)


def component_id(value: str) -> str:
    return render(
        [row("root", "Column", children=[value, value]), row(value, "Text", text="x")], surface=value
    )


def icon(value: str) -> str:
    rows = [
        row("a", "Icon", name=value),
        row("b", "Icon", name={"svgPath": value}),
        row("c", "Icon", name=path("/i")),
    ]
    return render(column(*rows), {"i": value})


def theme(value: str) -> str:
    return render(column(row("a", "Text", text="x")), theme={"primaryColor": value})


def label(value: str) -> str:
    check = [{"condition": False, "message": value}]
    return render(
        column(
            row("a", "Button", child="_t", action=EVENT, checks=check),
            row("_t", "Text", text=value),
            row("b", "TextField", label=value, value=path("/v"), checks=check),
            row("c", "CheckBox", label=path("/l"), value=True, accessibility={"label": value}),
            row("d", "Tabs", tabs=[{"title": value, "child": "_t"}, {"title": path("/l"), "child": "_t"}]),
            row("e", "Slider", label=value, max=5, value=1),
            row("f", "DateTimeInput", label=value, value=""),
        ),
        {"l": value},
    )


def table_cell(value: str) -> str:
    rows = [row("a", "List", children={"path": "/l", "componentId": "_t"}), row("_t", "Text", text=path("."))]
    return render(column(*rows), {"l": [value, value]})


def option(value: str) -> str:
    options = [{"label": value, "value": value}, {"label": path("/l"), "value": "x"}]
    rows = [
        row("a", "ChoicePicker", label=value, options=options, value=path("/v")),
        row(
            "b",
            "ChoicePicker",
            label="x",
            options=options,
            value=[value],
            displayStyle="chips",
            variant="multipleSelection",
        ),
    ]
    return render(column(*rows), {"l": value, "v": [value]})


PLACES = {
    "markdown": (text, "benign", False),
    "url": (url, "https://benign.example/", False),
    "id": (component_id, "benign", False),
    "icon": (icon, "benign", False),
    "theme": (theme, "benign", False),
    "label": (label, "benign", True),
    "tableCell": (table_cell, "benign", True),
    "option": (option, "benign", True),
}


@pytest.mark.parametrize("entry", xss_payloads())
def test_payload(entry):
    place, benign, literal = PLACES[entry["where"]]
    html = place(entry["payload"])
    expected = place(benign)
    if place is url and "src=" not in html:
        # Nothing was accepted as an address: compare with a page of placeholders.
        expected = url(benign, frozenset())

    if html:
        assert caselib().xss_findings(html, expected, entry["payload"], literal) == []
    if entry["where"] in ("theme", "icon"):
        assert html == place("benign")


@pytest.mark.parametrize("entry", xss_payloads("url"))
@pytest.mark.parametrize("bound", [False, True])
def test_open_url(entry, bound):
    surfaces = Engine(EngineOptions()).surfaces()
    address = path("/u") if bound else entry["payload"]
    surfaces.apply(create())
    button = row("root", "Button", child="t", action={"functionCall": call("openUrl", url=address)})
    surfaces.apply(message("updateComponents", components=[button]))
    surfaces.apply(message("updateDataModel", value={"u": entry["payload"]}))

    opened = ""
    with contextlib.suppress(ActionError):
        opened = surfaces.act("a1-0").url
    assert not opened or re.match(r"https?://[^/]", opened, re.IGNORECASE)
