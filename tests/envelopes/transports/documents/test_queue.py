"""Patches that wait: budgets of a tick, whole patches, and what becomes of those behind one that fails."""

from __future__ import annotations

import pytest

from envelopes.transports.documents.formats.errors import BudgetExceeded, InvalidInput
from envelopes.transports.documents.formats.limits import DocumentLimits
from envelopes.transports.documents.formats.normalise import normalise
from envelopes.transports.documents.formats.patches import PatchDocument, parse_patch
from envelopes.transports.documents.formats.queue import OnFailure, PatchQueue
from tests.envelopes.transports.documents.tables import DOCUMENT


class Clock:
    """Seconds; ``step`` pass at each look."""

    def __init__(self, step: float = 0.0) -> None:
        self.now, self.step = 0.0, step

    def __call__(self) -> float:
        self.now += self.step
        return self.now


def patch(*values: str) -> PatchDocument:
    ops = [{"op": "replace", "path": "/components/0/props/value", "value": value} for value in values]
    return parse_patch({"v": 1, "ops": ops})


BAD = parse_patch({"v": 1, "ops": [{"op": "remove", "path": "/nothing"}]})
HIDES = parse_patch({"v": 1, "ops": [{"op": "replace", "path": "/surface", "value": " "}]})


def queue(
    *patches: PatchDocument, on_failure: OnFailure = "skip", step: float = 0.0, **limits: int
) -> PatchQueue:
    made = PatchQueue(
        normalise(DOCUMENT).document, Clock(step), DocumentLimits(**limits), on_failure=on_failure
    )
    for one in patches:
        made.add(one)
    return made


def text(made: PatchQueue) -> str:
    return str(made.document["components"][0]["props"]["value"])


@pytest.mark.parametrize("on_failure", ["skip", "clear"])
def test_two_patches_of_two_operations_take_two_ticks(on_failure: OnFailure) -> None:
    made = queue(patch("a", "b"), patch("c", "d"), tick_operations=2, on_failure=on_failure)

    first = made.tick()
    assert (first.applied, first.remaining, first.exhausted, text(made)) == (1, 1, True, "b")
    second = made.tick()
    assert (second.applied, second.remaining, second.exhausted, text(made)) == (1, 0, False, "d")


def test_the_first_patch_is_applied_however_long_it_is() -> None:
    made = queue(patch("a", "b", "c"), patch("d"), tick_operations=1)

    assert made.tick().applied == 1 and text(made) == "c"


def test_time_decides_when_and_not_whether() -> None:
    made = queue(patch("a"), patch("b"), step=0.02, tick_ms=12)

    first = made.tick()
    assert (first.applied, first.remaining) == (1, 1)
    assert first.elapsed_ms >= 12
    assert made.tick().applied == 1


def test_an_empty_queue_leaves_the_document_the_same_object() -> None:
    made = queue()
    before = made.document

    ticked = made.tick()
    assert (ticked.applied, ticked.remaining, ticked.exhausted) == (0, 0, False)
    assert ticked.document is before


def test_a_full_queue_refuses() -> None:
    made = queue(patch("a"), queue_depth=1)

    with pytest.raises(BudgetExceeded):
        made.add(patch("b"))
    assert len(made) == 1


@pytest.mark.parametrize("bad", [BAD, HIDES], ids=["conflict", "nothing to show"])
def test_a_patch_that_fails_is_rejected_alone(bad: PatchDocument) -> None:
    made = queue(patch("a"), bad, patch("c"))

    ticked = made.tick()
    assert (ticked.applied, text(made)) == (2, "c")
    ((place, error),) = ticked.rejected
    assert place == 1 and error.code in ("conflict", "invalid_input")


@pytest.mark.parametrize("bad", [BAD, HIDES], ids=["conflict", "nothing to show"])
def test_or_it_empties_the_queue(bad: PatchDocument) -> None:
    made = queue(patch("a"), bad, on_failure="clear")
    before = made.document

    ticked = made.tick()
    assert (ticked.applied, len(made), made.document) == (0, 0, before)
    assert [place for place, _ in ticked.rejected] == [1]


def test_a_whole_document_empties_the_queue() -> None:
    made = queue(patch("a"))

    made.replace({"v": 1, "surface": "other", "components": []})
    assert (len(made), made.document["surface"]) == (0, "other")
    with pytest.raises(InvalidInput):
        made.replace({"v": 1})
    assert made.document["surface"] == "other"
