"""The model of the short way with processes that are killed: before the commit of what they say, and right after it.

``BEACH_FUZZ=50 pytest tests/long/test_killed_writers.py`` for a longer run.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import invariant, rule

from beachsite.suite import ROOT
from envelopes.log.read import rows_after
from tests.a2ui.strategies import FUZZ
from tests.envelopes.log.databases import url_of
from tests.envelopes.turns.test_short_way import WHERE, Writers, run
from tests.faults.lab.dying import Dying, When

pytestmark = pytest.mark.django_db(transaction=True)


class KilledWriters(Writers):
    """Other processes write as well, and die of it. ``World.check`` counts edits."""

    @rule(at=WHERE, job=WHERE, when=st.sampled_from(["before", "after"]), number=st.integers(1, 3))
    def kill(self, at: int, job: int, when: When, number: int) -> None:
        talk = self.world.talks[at]
        words = [next(self.world.words) for _ in range(3)]
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "gates").mkdir()
            Dying(Path(folder)).order(when, number, "group")
            process = subprocess.run(
                [sys.executable, "-m", "tests.long.emitting_until_killed", folder, str(talk.jobs[job].call.pk), *words],
                check=False, cwd=ROOT, env={**os.environ, "BEACH_TEST_DATABASE_URL": url_of("default")},
                capture_output=True, text=True,
            )  # fmt: skip
        assert process.returncode == -signal.SIGKILL, process.stderr
        assert process.stdout.split() == words[: number - 1]
        stored = number - 1 if when == "before" else number
        talk.stored[job] += words[:stored]
        talk.refused.update(words[stored:])

    @invariant()
    def nothing_is_doubled(self) -> None:
        for talk in self.world.talks:
            rows = rows_after(talk.session.pk, 0)
            values = Counter(
                said["updateDataModel"]["value"]
                for row in rows
                if row.part_type == "a2ui-surface"
                for said in row.data["part"]["data"]["messages"]
                if said.get("updateDataModel", {}).get("path") == "/value"
            )
            assert all(count == 1 for count in values.values()), values


def test_live_surfaces_are_a_replay_whoever_is_killed() -> None:
    run(8 * FUZZ, 15, KilledWriters)
