"""Hostile text in every place of the thread that an agent can write to (cases/xss.jsonl)."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

from tests.envelopes.transports.panel.talk import Talk
from tests.shared import caselib, needs_shared, xss_payloads

Fill = Callable[[Talk, str], Any]

MARKDOWN: dict[str, Fill] = {
    "response": lambda talk, text: talk.part("response", text),
    "clarify": lambda talk, text: talk.part("clarify", text),
    "error": lambda talk, text: talk.part("error", text, {"title": "t"}),
    "citation title": lambda talk, text: talk.part("citation", data={"path": "p", "title": text}),
}
TEXT: dict[str, Fill] = {
    "ack": lambda talk, text: talk.part("ack", text),
    "message": lambda talk, text: talk.me(text),
    "click": lambda talk, text: talk.row(
        "action", {"action": {}, "owner": "s", "target": "t", "label": text}
    ),
    "data value": lambda talk, text: talk.part("domain-data", data={"k": text}),
    "data key": lambda talk, text: talk.part("domain-data", data={text: "v"}),
    "table cell": lambda talk, text: talk.part("domain-data", data={"rows": [{"a": text}, {"a": 1}]}),
    "table head": lambda talk, text: talk.part("domain-data", data={"rows": [{text: 1}]}),
    "list item": lambda talk, text: talk.part("domain-data", data={"items": [text]}),
    "deep value": lambda talk, text: talk.part("domain-data", data={"a": {"b": {"c": {"d": text}}}}),
    "step label": lambda talk, text: talk.part("progress", data={"id": "a", "label": text}),
    "group": lambda talk, text: talk.part("progress", data={"id": "a", "group": text}),
    "file name": lambda talk, text: talk.part(
        "artifact", data={"artifactId": "a", "mimeType": "a/b", "sizeBytes": 1, "name": text}
    ),
    "choice": lambda talk, text: talk.part("clarify", "?", {"choices": [text]}),
    "quote": lambda talk, text: talk.part("citation", data={"path": text, "title": "t", "quote": text}),
    "question": lambda talk, text: talk.ask(question=text, why=text, riskNote=text, label=text),
    "outcome": lambda talk, text: (
        talk.ask(),
        talk.decide("granted"),
        talk.tool("failed", error={"message": text}),
    ),
    "error code": lambda talk, text: talk.part("error", "x", {"title": text, "code": text}),
}
IDS: dict[str, Fill] = {
    "part id": lambda talk, text: talk.part("response", "x", partId=text),
    "step id": lambda talk, text: talk.part("progress", data={"id": text, "label": "x"}),
    "approval id": lambda talk, text: talk.ask(text),
    "artifact id": lambda talk, text: talk.part(
        "artifact", data={"artifactId": text, "mimeType": "a/b", "sizeBytes": 1, "name": "x"}
    ),
    "live key": lambda talk, text: talk.part("response", "x", live=text),
}
URLS: dict[str, Fill] = {
    "citation": lambda talk, text: talk.part("citation", data={"path": "p", "title": "t", "url": text}),
    "file": lambda talk, text: talk.part(
        "artifact",
        data={"artifactId": "a", "mimeType": "application/pdf", "sizeBytes": 1, "name": "n", "url": text},
    ),
    "picture": lambda talk, text: talk.part(
        "artifact",
        data={"artifactId": "a", "mimeType": "image/png", "sizeBytes": 1, "name": "n", "url": text},
    ),
}


ARGUMENTS: dict[str, Fill] = {
    "arguments": lambda talk, text: talk.ask(args={text[:40]: text, "list": [text]})
}
OURS = {
    "one more <span>",
    "one more <details>",
    "one more <summary>",
    "one more <bdi>",
}
"""What the arguments of a call may bring with them: names of hidden characters, numbers of blanks, folds."""
BENIGN_URL = "https://benign.example/"


def drawn(places: dict[str, Fill], text: str) -> str:
    """All places, each in a conversation of its own, while its turn runs and after it has settled."""
    pages = []
    for fill in places.values():
        talk = Talk()
        talk.turn(1)
        fill(talk, text)
        pages.append(talk.html())
        talk.settle()
        pages.append(talk.html())
    return "".join(pages)


@cache
def harmless(places: tuple[str, ...], text: str) -> str:
    return drawn({name: ALL[name] for name in places}, text)


ALL = MARKDOWN | TEXT | {f"id: {name}": fill for name, fill in IDS.items()} | ARGUMENTS
ALL |= {f"url: {name}": fill for name, fill in URLS.items()}


def findings(places: dict[str, Fill], payload: str, benign: str = "benign") -> list[str]:
    names = tuple(name for name, fill in ALL.items() if fill in places.values())
    found: list[str] = caselib().xss_findings(drawn(places, payload), harmless(names, benign), payload)
    return found


@needs_shared
@pytest.mark.shared
@pytest.mark.parametrize("entry", xss_payloads("markdown"))
def test_markdown(entry: dict[str, str]) -> None:
    # A block of code scrolls sideways, within reach of the keyboard.
    assert set(findings(MARKDOWN, entry["payload"])) <= {"attribute tabindex on <pre>"}


@needs_shared
@pytest.mark.shared
@pytest.mark.parametrize("entry", xss_payloads("tableCell", "label", "option"))
def test_plain_text(entry: dict[str, str]) -> None:
    assert findings(TEXT, entry["payload"]) == []


@needs_shared
@pytest.mark.shared
@pytest.mark.parametrize(
    "place", ["data value", "data key", "table cell", "table head", "list item", "step label"]
)
def test_plain_text_is_shown_as_written(place: str) -> None:
    fill = ALL[place]
    for entry in xss_payloads("tableCell", "label", "option"):
        payload = entry.values[0]["payload"]
        page = drawn({place: fill}, payload)
        assert caselib().xss_findings(page, harmless((place,), "benign"), payload, literal=True) == []


@needs_shared
@pytest.mark.shared
@pytest.mark.parametrize("entry", xss_payloads("id"))
def test_ids(entry: dict[str, str]) -> None:
    assert findings(IDS, entry["payload"]) == []


@needs_shared
@pytest.mark.shared
@pytest.mark.parametrize("entry", xss_payloads("url"))
def test_urls(entry: dict[str, str]) -> None:
    assert findings(URLS, entry["payload"], BENIGN_URL) == []


@needs_shared
@pytest.mark.shared
@pytest.mark.parametrize("entry", xss_payloads())
def test_arguments_of_a_call(entry: dict[str, str]) -> None:
    assert set(findings(ARGUMENTS, entry["payload"])) <= OURS
