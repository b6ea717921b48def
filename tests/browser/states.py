"""Conversations in each of the states that a page can show, made of rows: what they say is short, or one long word."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.envelopes.transports.panel.talk import Talk, surface

LONG = "W" * 400
ANSWER = (
    "# A plan\n\nFly on **Friday**.\n\n### Then\n\n- sea\n- sun\n\n"
    "| Day | Price |\n| --- | --- |\n| Friday | £94.00 |"
)


def card(word: str = "") -> dict[str, Any]:
    """A surface with a heading, fields, a tab list and a dialog."""
    return surface(
        "s1",
        {"id": "root", "component": "Column", "children": ["h", "t", "q", "pick", "row", "tabs", "dialog"]},
        {"id": "h", "component": "Text", "text": word or "Refine this search", "variant": "h3"},
        {"id": "t", "component": "Text", "text": word or "Up to £200.00 per person"},
        {"id": "q", "component": "TextField", "label": word or "Airport", "value": {"path": "/q"}},
        {
            "id": "pick",
            "component": "ChoicePicker",
            "label": word or "Departure",
            "variant": "mutuallyExclusive",
            "displayStyle": "chips",
            "options": [{"label": word or "Any time", "value": "a"}, {"label": "Evening", "value": "e"}],
            "value": {"path": "/p"},
        },
        {"id": "row", "component": "Row", "children": ["go", "no"]},
        {"id": "go", "component": "Button", "child": "gt", "action": {"event": {"name": "go"}}},
        {"id": "gt", "component": "Text", "text": word or "Search again"},
        {"id": "no", "component": "Text", "text": "or not"},
        {
            "id": "tabs",
            "component": "Tabs",
            "tabs": [{"title": word or "Weather", "child": "t1"}, {"title": "Food", "child": "t2"}],
        },
        {"id": "t1", "component": "Text", "text": "Warm"},
        {"id": "t2", "component": "Text", "text": "Good"},
        {"id": "dialog", "component": "Modal", "trigger": "open", "content": "inside"},
        {"id": "open", "component": "Text", "text": "Rules"},
        {"id": "inside", "component": "Text", "text": word or "Be kind"},
        model={"q": word, "p": ["a"]},
    )


def _begun(**context: Any) -> Talk:
    talk = Talk(**context)
    talk.me("Find flights from London Gatwick to Corfu")
    talk.turn(1)
    return talk


def streaming() -> Talk:
    talk = _begun()
    talk.part("ack", "Looking for flights")
    return talk


def settled() -> Talk:
    talk = _begun()
    talk.part("ack", "Looking for flights")
    talk.part("response", ANSWER)
    talk.part("citation", data={"title": "Timetable", "quote": "Two a day", "url": "https://example.org/"})
    talk.part("a2ui-surface", data=card())
    talk.part(
        "artifact", data={"artifactId": "a", "name": "plan.txt", "mimeType": "text/plain", "sizeBytes": 7}
    )
    talk.part(
        "domain-data", data={"days": [{"day": "Friday", "price": 94}, {"day": "Saturday", "price": 120}]}
    )
    talk.settle()
    talk.row("action", {"label": "Search again", "target": "x"})
    talk.turn(2)
    talk.part("response", "## Again\n\nThe same.", turn=2)
    talk.part("domain-data", data={"days": [{"day": "Sunday", "price": 9}]}, turn=2)
    talk.settle(2)
    return talk


def pending() -> Talk:
    talk = _begun()
    talk.ask(expires=None)
    return talk


def denied() -> Talk:
    talk = _begun()
    talk.ask()
    talk.decide("denied", reason="Too dear")
    talk.part("response", "All right.")
    talk.settle()
    return talk


def done() -> Talk:
    talk = _begun()
    talk.ask()
    talk.decide("granted")
    talk.tool("succeeded")
    talk.part("response", "Booked.")
    talk.settle()
    return talk


def expired() -> Talk:
    talk = _begun()
    talk.ask()
    talk.decide("expired", reason="expired", decidedByName="policy:expiry")
    talk.settle()
    return talk


def error() -> Talk:
    talk = _begun()
    talk.part(
        "error", "Nothing was searched or booked.", data={"title": "No answer", "code": "down", "retry": True}
    )
    talk.settle(how="error")
    talk.me("Again")
    talk.turn(2)
    talk.settle(2, how="timeout")
    return talk


def clarifying() -> Talk:
    talk = _begun()
    talk.part("clarify", "Which airport do you want to leave from?", data={"choices": ["Gatwick", "Luton"]})
    talk.settle()
    return talk


def researching() -> Talk:
    talk = _begun()
    talk.part("response", "Researching in the background.")
    for number, state in enumerate(("done", "running", "todo")):
        data = {"id": str(number), "label": f"Step {number}", "status": state, "group": "Corfu"}
        talk.part("progress", data=data | {"current": 2, "total": 4})
    return talk


STATES: dict[str, Callable[[], Talk]] = {
    "empty": Talk,
    "streaming": streaming,
    "settled": settled,
    "pending": pending,
    "denied": denied,
    "done": done,
    "expired": expired,
    "error": error,
    "clarifying": clarifying,
    "researching": researching,
}


def wordy() -> Talk:
    """One word of 400 letters in each kind of block."""
    talk = Talk(actors={"sally": LONG})
    file = {"artifactId": "f", "name": LONG, "mimeType": "text/plain", "url": "/artifacts/f"}
    came_with = {"artifact": file, "domain-data": {LONG: LONG, "rows": [{LONG: LONG, "n": 1}]}}
    talk.me(LONG, parts=[{"metadata": {"partType": name}, "data": data} for name, data in came_with.items()])
    talk.turn(1)
    talk.part("ack", LONG)
    talk.part("ack", f"{LONG} again")
    talk.part(
        "response", f"# {LONG}\n\n{LONG} `{LONG}` [{LONG}](https://example.org/)\n\n> {LONG}\n\n1. {LONG}"
    )
    talk.part("response", f"| {LONG} | b |\n| --- | --- |\n| {LONG} | {LONG} |\n\n```\n{LONG}\n```")
    talk.part("citation", data={"title": LONG, "quote": LONG, "url": f"https://example.org/{LONG}"})
    talk.part("a2ui-surface", data=card(LONG))
    talk.part("artifact", data={"artifactId": "a", "name": f"{LONG}.txt", "mimeType": "text/plain"})
    talk.part("artifact", data={"artifactId": "b", "name": f"{LONG}.png", "mimeType": "image/png"})
    talk.part(
        "domain-data", data={LONG: LONG, "list": [{LONG: LONG, "b": 1}], "deep": {LONG: {LONG: {LONG: 1}}}}
    )
    talk.part("progress", data={"id": LONG, "label": LONG, "group": LONG, "current": 1, "total": 3})
    talk.part("progress", data={"id": "2", "label": LONG, "group": "", "current": 10**300})
    talk.part("error", LONG, data={"title": LONG, "code": LONG, "retry": True})
    talk.ask("a1", args={LONG: LONG, "b": {LONG: [LONG]}}, question=LONG, why=LONG)
    talk.ask("a2", args={"b": LONG}, question=LONG)
    talk.decide("denied", "a2", reason=LONG, decidedByName=LONG)
    talk.part("clarify", LONG, data={"choices": [LONG, LONG]})
    talk.settle()
    talk.row("action", {"label": LONG, "target": "x"})
    talk.turn(2)
    talk.part("clarify", LONG, data={"choices": [LONG, LONG]}, turn=2)
    talk.settle(2)
    talk.me(LONG)
    talk.turn(3)
    talk.part("clarify", LONG, data={"choices": [LONG, LONG]}, turn=3)
    talk.settle(3)
    return talk
