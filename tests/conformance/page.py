"""Runs all suites and writes what came of it: docs/a2ui-conformance.md."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.conformance.case import Case
from tests.conformance.deviations import NOT_OURS, RULES, SUITES
from tests.conformance.suites import agent_sdks, core, programs, schema, v1_0
from tests.shared import ROOT

PAGE: Path = ROOT / "docs" / "a2ui-conformance.md"

_HEAD = """# A2UI conformance

Written by `python -m tests.conformance` from the suites in the shared data; `--check` compares, and a test in
`tests/conformance` does so in CI. Do not edit by hand: reasons stand in `tests/conformance/deviations.py`.

Where sources contradict each other, the rulebook's order of authority decides: conformance suites, schemas, both
official cores, our own decisions.

## Suites

| suite | cases | pass | by design |
| --- | ---: | ---: | ---: |
"""


@dataclass
class Tally:
    """Names of the cases of one suite by how they came out."""

    passed: list[str] = field(default_factory=list)
    deviating: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    """Neither passed nor explained, or explained and passed."""


def all_cases() -> Iterator[Case]:
    """Every case of every suite."""
    for module in (schema, v1_0, core, agent_sdks, programs):
        yield from module.cases()


def outcome(case: Case) -> str:
    """ "" where the case passes, else why not."""
    try:
        case.run()
    except Exception as error:  # noqa: BLE001 - whatever the engine does wrong is the result
        return f"{type(error).__name__}: {error}"[:300]
    return ""


def run() -> dict[str, Tally]:
    """The tally of each suite."""
    tallies: dict[str, Tally] = {}
    for case in all_cases():
        tally = tallies.setdefault(case.suite, Tally())
        problem = outcome(case)
        explained = case.id in SUITES
        if bool(problem) != explained:
            tally.failed.append(f"{case.id}: {problem or 'passes, but is explained as a deviation'}")
        (tally.deviating if problem else tally.passed).append(case.id)
    return tallies


def page(tallies: dict[str, Tally]) -> str:
    """The text of the page."""
    lines = [_HEAD.rstrip("\n")]
    for name, tally in tallies.items():
        total = len(tally.passed) + len(tally.deviating)
        lines.append(f"| {name} | {total} | {len(tally.passed)} | {len(tally.deviating)} |")
    passed = sum(len(tally.passed) for tally in tallies.values())
    deviating = sum(len(tally.deviating) for tally in tallies.values())
    lines.append(f"| **all** | **{passed + deviating}** | **{passed}** | **{deviating}** |")
    lines += ["", "Not for a renderer:", "", "| suite (cases) | why |", "| --- | --- |"]
    lines += [f"| {name} | {reason} |" for name, reason in NOT_OURS.items()]
    lines += ["", "## Deviations by design", "", "| what | reason |", "| --- | --- |"]
    lines += [f"| `{name}` | {reason} |" for name, reason in SUITES.items()]
    lines += [f"| {name} | {reason} |" for name, reason in RULES.items()]
    return "\n".join(lines) + "\n"
