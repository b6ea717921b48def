"""The progress card: numbers that make no sense, and turns that end with work left open."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree as ET

import pytest

from tests.envelopes.transports.panel.talk import Talk, words
from tests.shared import case, needs_shared, variants


def steps(talk: Talk) -> dict[str, ET.Element]:
    """The lines of the card by their label."""
    return {words(step).split(": ")[-1].split(" ")[0]: step for step in talk.page.select("b-step")}


def bar(element: ET.Element) -> float | None:
    """What a bar shows, in percent; None for one without a value."""
    found = element.find(".//progress")
    assert found is not None
    value = found.get("value")
    return None if value is None else 100 * float(value) / float(found.get("max", "1"))


def play(talk: Talk, parts: list[Any]) -> None:
    """The parts of a case file, after the turn has begun."""
    for entry in parts:
        if entry[0] == "state":
            talk.settle(1, entry[1])
        elif entry[0] == "response":
            talk.part("response", entry[2], partId=entry[1])
        elif entry[0] == "progress":
            talk.part("progress", data={"id": entry[1], **entry[2]})


@needs_shared
@pytest.mark.shared
def test_st_progress_values() -> None:
    given = case("streaming/st-progress-values.yaml")["input"]["parts"]
    talk = Talk()
    talk.turn(1)
    shown: dict[str, list[float]] = {}
    head: list[float] = []
    for part in given:
        play(talk, [part])
        for name, step in steps(talk).items():
            if step.find(".//progress") is not None and (value := bar(step)) is not None:
                shown.setdefault(name, []).append(value)
        card = bar(talk.page.select("b-progress")[0])
        head += [] if card is None else [card]
        if part[0] == "progress" and part[1] == "p4":
            assert bar(steps(talk)["no"]) is None
    assert shown["A"][-1] == 100
    for series in [*shown.values(), head]:
        assert series == sorted(series)
        assert 0 <= series[0] <= series[-1] <= 100
    assert all(value == 0 for value in shown.get("p2", []))
    page = talk.reloaded()
    assert len(page.select("b-progress")) == 1
    assert len(page.select("b-step")) == 5
    assert not [b for step in page.select("b-step") for b in step.iter("b")]
    assert not page.select("b-spin")
    assert not talk.thread.busy


@pytest.mark.shared
@pytest.mark.parametrize(
    ("given", "expected"),
    [one for one in variants("streaming") if one.id.startswith("st-nothing-after-settlement")],
)
def test_st_nothing_after_settlement_and_no_open_ends(
    given: dict[str, Any], expected: dict[str, Any]
) -> None:
    talk = Talk()
    talk.turn(1)
    play(talk, given["parts"])
    if "connection_lost_to_agent" in [entry[0] for entry in given["parts"]]:
        talk.settle(1, "error")  # what the sweeper appends when nobody carries the turn on
        assert talk.page.select("b-error")
    page = talk.reloaded()
    assert not talk.thread.busy
    for moving in ("b-typing", "b-spin"):
        assert not page.select(moving)
    if "chat_text" in expected:
        assert (
            " ".join(words(prose) for prose in page.select("b-prose") if prose.get("id"))
            == expected["chat_text"]
        )
    if "progress_shown_as" in expected:
        assert [step.get("data-state") for step in page.select("b-step")] == ["failed"]


def test_work_that_was_announced_fills_the_bar_step_by_step() -> None:
    talk = Talk()
    talk.turn(1)
    for name in "abcd":
        talk.part("progress", data={"id": name, "label": name, "status": "todo", "group": "Research"})
    seen = []
    for name in "abcd":
        talk.part("progress", data={"id": name, "status": "running", "group": "Research"})
        talk.part("progress", data={"id": name, "status": "done", "group": "Research"})
        seen.append(bar(talk.page.select("b-progress")[0]))
    assert seen == [25, 50, 75, 100]
    assert "Research 4 of 4" in words(talk.reloaded().select("b-progress")[0])


def test_stopped_work_counts_what_was_done() -> None:
    talk = Talk()
    talk.turn(1)
    for name in "abcd":
        talk.part("progress", data={"id": name, "label": name, "status": "todo", "group": "Research"})
    talk.part("progress", data={"id": "a", "status": "done", "group": "Research"})
    talk.part("progress", data={"id": "b", "status": "running", "group": "Research"})
    talk.settle(1, "error", finalizedBy="cancelled")
    card = talk.reloaded().select("b-progress")[0]
    assert "Research Stopped at 1 of 4" in words(card)
    assert bar(card) == 25


def test_work_that_grows_leaves_room_for_more() -> None:
    talk = Talk()
    talk.turn(1)
    seen = []
    for name in "abc":
        talk.part("progress", data={"id": name, "label": name, "status": "done", "group": "Research"})
        seen.append(bar(talk.page.select("b-progress")[0]))
    talk.settle()
    assert seen == [50, 66, 75]
    # All of it was done: no bar, one line.
    assert words(talk.reloaded().select("b-progress")[0]).startswith("Research · 3 of 3")


def test_a_card_stays_where_it_began_when_the_turn_goes_on_below() -> None:
    talk = Talk()
    talk.turn(1)
    talk.part("progress", data={"id": "a", "label": "A"})
    talk.turn(1, "suspended")
    talk.turn(2)
    talk.part("response", "Other", turn=2)
    talk.settle(2)
    talk.part("progress", data={"id": "a", "status": "done"})
    page = talk.reloaded()
    assert len(page.select("b-progress")) == 1
    assert page.text().index("Done") < page.text().index("Other")


@pytest.mark.parametrize("huge", [10**400, -(10**400), 1e308])
def test_numbers_beyond_reason_do_no_harm(huge: Any) -> None:
    talk = Talk()
    talk.turn(1)
    talk.part("progress", data={"id": "a", "current": huge, "total": 1e-300})
    talk.part("progress", data={"id": "a", "current": 1, "total": huge})
    talk.reloaded()
