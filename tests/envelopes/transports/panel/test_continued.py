"""A part with the id of an earlier one of its type continues it, whatever it is: one view on the page (D8)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from envelopes.registries.part_types import ACTOR, PartType, part_types
from envelopes.transports.panel.presenter.thread import Thread
from tests.envelopes.transports.panel.talk import Talk, words

VIEWS = {
    "ack": "b-ack",
    "thinking": "b-ack",
    "response": "b-prose",
    "clarify": "b-clarify",
    "error": "b-error",
    "acme.plain": "b-surface",
}


@pytest.fixture(autouse=True)
def _plain() -> Iterator[None]:
    """A type of an application that brings no drawing of its own."""
    with part_types.including(PartType("acme.plain", ACTOR, "flush", "once")):
        yield


def _said(talk: Talk, part_type: str) -> list[str]:
    page = talk.reloaded()
    return [words(view) for view in page.select(VIEWS[part_type])]


@pytest.mark.parametrize("part_type", VIEWS)
def test_d8_a_part_with_the_same_id_continues_it_and_is_one_view(part_type: str) -> None:
    talk, alone = Talk(), Talk()
    for each, texts in (
        (talk, ("Looking at ", "the **first", "** of them")),
        (alone, ("Looking at the **first** of them",)),
    ):
        each.me("Hi")
        each.turn(1)
        for text in texts:
            each.part(part_type, text, partId="p")
    assert _said(talk, part_type) == _said(alone, part_type)
    assert len(_said(talk, part_type)) == 1


@pytest.mark.parametrize("part_type", VIEWS)
def test_d8_another_id_and_another_type_begin_another(part_type: str) -> None:
    talk = Talk()
    talk.turn(1)
    talk.part(part_type, "One", partId="p")
    talk.part("response" if part_type != "response" else "clarify", "Two", partId="p")
    talk.part(part_type, "Three", partId="q")
    talk.settle()
    page = words(talk.reloaded().root)
    assert [each in page for each in ("OneTwo", "OneThree", "TwoThree")] == [False] * 3
    assert all(each in page for each in ("One", "Two", "Three"))


@pytest.mark.parametrize("part_type", VIEWS)
def test_d8_it_is_continued_after_the_turn_has_paused_and_from_a_snapshot(part_type: str) -> None:
    talk = Talk()
    talk.turn(1)
    talk.part(part_type, "Looking at ", partId="p")
    talk.turn(1, "suspended")
    talk.thread = Thread.restore(talk.context, talk.thread.snapshot())
    talk.turn(1)
    talk.part(part_type, "all of them", partId="p")
    talk.settle()
    assert words(talk.reloaded().root).count("Looking at all of them") == 1


def test_d8_a_line_in_the_middle_is_continued_where_it_stands() -> None:
    talk = Talk()
    talk.turn(1)
    talk.part("thinking", "First", partId="a")
    talk.part("thinking", "Second", partId="b")
    talk.part("thinking", ", more of it", partId="a")
    talk.settle()
    (fold,) = talk.reloaded().select("b-ack")
    assert words(fold) == "Second · 4 s First, more of it"


def test_d8_what_continues_a_question_may_bring_its_answers() -> None:
    talk = Talk()
    talk.turn(1)
    talk.part("clarify", "Which ", partId="q")
    talk.part("clarify", "one?", {"choices": ["A", "B"]}, partId="q")
    (question,) = talk.reloaded().select("b-clarify")
    assert "Which one?" in words(question)
    assert [words(button) for button in question.iter("button")] == ["A", "B"]


def test_d8_what_continues_an_error_keeps_what_was_said_of_it() -> None:
    talk = Talk()
    talk.me("Pay")
    talk.turn(1)
    talk.part("error", "The bank ", {"title": "No payment", "code": "bank"}, partId="e")
    talk.part("error", "did not answer", {"retry": True}, partId="e")
    (problem,) = talk.reloaded().select("b-error")
    said = words(problem)
    assert all(each in said for each in ("No payment", "The bank did not answer.", "bank", "Try again"))
