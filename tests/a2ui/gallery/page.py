"""The gallery's page as tests see it: what a browser would send back, and what it was sent."""

from __future__ import annotations

import json
import re
from html import unescape
from typing import Any

from django.test import Client

from tests.a2ui.programs import components, create, data, path, row

HTMX = {"HX-Request": "true"}
FIELDS = [
    create("s", sendDataModel=True),
    components(
        row("root", "Column", children=["name", "secret", "said", "go", "link", "many"]),
        row("name", "TextField", label="Name", value=path("/name")),
        row("secret", "TextField", label="Secret", variant="obscured", value=path("/secret")),
        row("said", "Text", text=path("/name")),
        row("go", "Button", child="goText", action={"event": {"name": "go", "context": {"who": path("/name")}}}),
        row("goText", "Text", text="Go"),
        row("link", "Button", child="goText", action={"functionCall": {"call": "openUrl", "args": {"url": "https://a2ui.org/"}}}),
        row("many", "List", children={"componentId": "line", "path": "/many"}),
        row("line", "Text", text=path("")),
    ),
    data({"name": "Ines", "many": list(range(1200))}),
    data("Ada", "/name"),
]  # fmt: skip
NAME, SECRET, GO, LINK, MANY = "a1-1", "a1-2", "a1-4", "a1-5", "a1-6"


def text(messages: Any) -> str:
    return json.dumps(messages)


def form(messages: Any = FIELDS, **more: Any) -> dict[str, Any]:
    """The fields of the page's form for a program."""
    program = messages if isinstance(messages, str) else text(messages)
    return {"program": program, "draft": program, "at": "500", "journal": "", "locale": "en-US"} | more


def journal_of(answer: str) -> str:
    found = re.search(r'name="journal" value="([^"]*)"', answer)
    assert found is not None
    return unescape(found[1])


class Tab:
    """A tab with the page in it: it keeps the journal, as the page does."""

    def __init__(self, client: Client, messages: Any = FIELDS, **fields: Any) -> None:
        self.client = client
        self.fields = form(messages, **fields)

    def go(self, **fields: Any) -> str:
        """What htmx is sent for a step or a switch."""
        answer = self.client.post("/gallery/", self.fields | fields, headers=HTMX)
        assert answer.status_code == 200
        self.fields["journal"] = journal_of(answer.text)
        return answer.text

    def do(self, kind: str, target: str, value: Any = None) -> dict[str, Any]:
        """What the page is answered for an edit, a click or a wish for more."""
        doing = {"type": kind, "target": target} | ({"value": value} if kind == "edit" else {})
        answer = self.client.post("/gallery/act", self.fields | {"doing": json.dumps(doing)})
        assert answer.status_code == 200
        found: dict[str, Any] = answer.json()
        if "parts" in found:
            self.fields["journal"] = journal_of(found["parts"])
        return found
