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
"""

_VERSIONS = (
    ("1.0, and its candidates", ("specification/v1_0/",)),
    ("0.9.1", ("specification/v0_9_1/",)),
    ("0.9", ("specification/v0_9/", "conformance/core/", "expected/")),
    ("0.8, 0.9 and what holds for all versions", ("",)),
)
"""The headings of the page, and what the names of suites begin with that stand below each."""


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


def _counts(*tallies: Tally) -> tuple[int, int]:
    """How many cases pass, and how many come out differently by design."""
    return sum(len(one.passed) for one in tallies), sum(len(one.deviating) for one in tallies)


def _counted(name: str, *tallies: Tally) -> str:
    passed, deviating = _counts(*tallies)
    return f"| {name} | {passed + deviating} | {passed} | {deviating} |"


def _words(*tallies: Tally) -> str:
    passed, deviating = _counts(*tallies)
    return (
        f"{passed + deviating} cases, of which {passed} pass and {deviating} come out differently by design"
    )


def page(tallies: dict[str, Tally]) -> str:
    """The text of the page."""
    lines = [_HEAD.rstrip("\n")]
    left = dict(tallies)
    for version, starts in _VERSIONS:
        below = {name: left.pop(name) for name in list(left) if name.startswith(starts)}
        lines += [
            "",
            f"### {version}",
            "",
            "| suite | cases | pass | by design |",
            "| --- | ---: | ---: | ---: |",
        ]
        lines += [_counted(name, tally) for name, tally in below.items()]
        lines.append(_counted("**all of these**", *below.values()))
    lines += [
        "",
        f"All versions: {_words(*tallies.values())}.",
        "",
        "Not for a renderer:",
        "",
        "| suite (cases) | why |",
        "| --- | --- |",
    ]
    lines += [f"| {name} | {reason} |" for name, reason in NOT_OURS.items()]
    lines += ["", "## Deviations by design", "", "| what | reason |", "| --- | --- |"]
    lines += [f"| `{name}` | {reason} |" for name, reason in SUITES.items()]
    lines += [f"| {name} | {reason} |" for name, reason in RULES.items()]
    return "\n".join(lines) + "\n"
