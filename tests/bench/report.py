"""What a bench reports: rows of measure, value and target, as a table or as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass

JSON_FLAG = "--json"


@dataclass(frozen=True, slots=True)
class Target:
    """One row. `value` and `target` are in `unit`, `ok` says whether the value is within the target; `about` holds
    absolute figures, for information. Without a value it was not run, which is not within the target; without a
    target it is for information only."""

    name: str
    value: float | None
    unit: str
    target: float | None
    ok: bool
    about: str = ""

    @classmethod
    def at_most(cls, name: str, value: float, unit: str, target: float, about: str = "") -> Target:
        """A row whose value should not be above the target."""
        return cls(name, round(value, 3), unit, target, value <= target, about)

    @classmethod
    def at_least(cls, name: str, value: float, unit: str, target: float, about: str = "") -> Target:
        """A row whose value should not be below the target."""
        return cls(name, round(value, 3), unit, target, value >= target, about)

    @classmethod
    def known(cls, name: str, value: float, unit: str, about: str = "") -> Target:
        """A row that nothing is asked of: a floor, a share of something."""
        return cls(name, round(value, 3), unit, None, True, about)

    @classmethod
    def not_run(cls, name: str, unit: str, target: float | None, why: str) -> Target:
        """A row that could not be measured here, and counts as not met."""
        return cls(name, None, unit, target, False, why)

    @property
    def status(self) -> str:
        """The word before the row in a table."""
        if self.value is None:
            return "not run"
        if self.target is None:
            return "-"
        return "ok" if self.ok else "MISSED"


def show(targets: Sequence[Target], *, as_json: bool) -> str:
    """All rows: one JSON object `{"targets": [...]}`, or a table."""
    if as_json:
        return json.dumps({"targets": [asdict(target) for target in targets]})
    lines = [("", "measure", "value", "target", "unit", "")]
    lines += [
        (target.status, target.name, _figure(target.value), _figure(target.target), target.unit, target.about)
        for target in targets
    ]
    widths = [max(len(line[column]) for line in lines) for column in range(5)]
    return "\n".join(
        "  ".join(
            [
                cell.rjust(width) if column in (2, 3) else cell.ljust(width)
                for column, (cell, width) in enumerate(zip(line, [*widths, 0], strict=True))
            ]
        ).rstrip()
        for line in lines
    )


def _figure(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"
