"""What a report says of a row."""

from __future__ import annotations

import json

from tests.bench.report import Target, show


def test_a_value_at_its_target_is_within_it_on_either_side() -> None:
    assert Target.at_most("cost", 6.0, "x", 6).ok
    assert not Target.at_most("cost", 6.01, "x", 6).ok
    assert Target.at_least("carried", 0.9, "x", 0.9).ok
    assert not Target.at_least("carried", 0.89, "x", 0.9).ok


def test_what_was_not_run_is_not_met() -> None:
    row = Target.not_run("streams", "x Chainlit", 0.75, "--chainlit VENV")
    assert not row.ok
    assert show([row], as_json=False).splitlines()[1].split() == [
        "not", "run", "streams", "0.75", "x", "Chainlit", "--chainlit", "VENV",
    ]  # fmt: skip
    assert json.loads(show([row], as_json=True))["targets"][0]["value"] is None


def test_a_floor_is_asked_nothing() -> None:
    row = Target.known("floor: row", 16.2, "us")
    assert row.ok
    assert show([row], as_json=False).splitlines()[1].split() == ["-", "floor:", "row", "16.20", "us"]
