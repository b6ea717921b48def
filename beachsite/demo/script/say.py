"""Short ways to say the usual things."""

from __future__ import annotations

from beachsite.demo.surfaces import build
from envelopes.providers.scripted import Outcome, Say, data, text
from envelopes.types import Json, JsonObject

# Nothing broke there: what was asked for is not to be had.
_REASONS = {
    "no_route": "Nobody flies that route",
    "bad_date": "That day is not on sale",
    "unknown_place": "I don’t know that place",
}


def ack(words: str) -> Say:
    return Say([text("ack", words)], "awaiting")


def thinking(words: str) -> Say:
    return Say([text("thinking", words)], "awaiting")


def answer(words: str, *parts: JsonObject, state: str = "complete") -> Say:
    return Say([text("response", words), *parts], state)


def ask(question: str, choices: list[str]) -> Say:
    return Say([{**text("clarify", question), "data": {"choices": choices}}], "clarifying")


def surface(messages: list[JsonObject], kind: str) -> JsonObject:
    return data("a2ui-surface", build.batch(messages), dataKind=kind)


def domain(value: JsonObject, kind: str) -> JsonObject:
    return data("domain-data", value, dataKind=kind)


def failed(
    outcome: Outcome, title: str, *, code: str = "tool_failed", instead: list[str] | None = None
) -> Say:
    """What a tool said when it could not: its own sentence, which says what did not happen.

    Nothing in this demo fails for a moment only, so the same again is never offered; ``instead`` is what can work.
    """
    facts = outcome.content if isinstance(outcome.content, dict) else {}
    told = str(facts.get("message") or "The tool did not say why.")
    problem: JsonObject = {
        "code": str(facts.get("code") or code),
        "title": _REASONS.get(str(facts.get("code")), title),
        "retry": False,
    }
    if instead:
        problem["choices"] = instead
    return Say([{**text("error", told), "data": problem}], "error")


def found(outcome: Outcome | None) -> JsonObject | None:
    """The result of a tool that worked."""
    if outcome is None or outcome.is_error or not isinstance(outcome.content, dict):
        return None
    return outcome.content


def error_code(outcome: Outcome | None) -> str:
    content: Json = outcome.content if outcome is not None else None
    return str(content.get("code", "")) if isinstance(content, dict) else ""


def count(number: int, one: str, many: str) -> str:
    """ "one ticket", "two tickets", "12 tickets"."""
    words = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
    return f"{words[number] if number < len(words) else number} {one if number == 1 else many}"
