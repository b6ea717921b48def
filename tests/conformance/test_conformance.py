"""The suites, and the page that says how they come out."""

from __future__ import annotations

import pytest

from tests.conformance.deviations import NOT_OURS, SUITES
from tests.conformance.page import PAGE, all_cases, outcome, page, run
from tests.conformance.suites import agent_sdks, core, schema, v1_0
from tests.shared import SHARED, needs_shared

pytestmark = [pytest.mark.shared, needs_shared]

CASES = [case for module in (schema, v1_0, core, agent_sdks) for case in module.cases()] if SHARED else []


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_case(case):
    """The suites that have no test elsewhere; one that is explained must come out differently still."""
    problem = outcome(case)

    assert bool(problem) == (case.id in SUITES), problem


def test_the_page_is_current():
    tallies = run()

    assert not [problem for tally in tallies.values() for problem in tally.failed]
    assert PAGE.read_text(encoding="utf-8") == page(tallies), "run python -m tests.conformance"


def test_every_deviation_is_a_case():
    assert {case.id for case in all_cases()} >= SUITES.keys()


def test_suites_left_out_have_the_size_that_is_said():
    import yaml

    assert SHARED is not None
    for name in NOT_OURS:
        if name.startswith("agent_sdks/"):
            path, _, size = name.partition(" (")
            entries = yaml.safe_load((SHARED / "spec/a2ui" / f"{path}.yaml").read_text(encoding="utf-8"))
            assert f"{len(entries)})" == size
