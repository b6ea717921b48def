"""What a bench reports: rows of measure, value and target, as a table or as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass

JSON_FLAG = "--json"


@dataclass(frozen=True, slots=True)
class Target:
    """One row. `value` and `target` are in `unit`, `ok` says whether the value is within the target; `about` holds
    absolute figures, for information."""

    name: str
    value: float
    unit: str
    target: float
    ok: bool
    about: str = ""

    @classmethod
    def at_most(cls, name: str, value: float, unit: str, target: float, about: str = "") -> Target:
        """A row whose value should not be above the target."""
        return cls(name, round(value, 3), unit, target, value <= target, about)


def show(targets: Sequence[Target], *, as_json: bool) -> str:
    """All rows: one JSON object `{"targets": [...]}`, or a table."""
    if as_json:
        return json.dumps({"targets": [asdict(target) for target in targets]})
    lines = [("", "measure", "value", "target", "unit", "")]
    lines += [
        ("ok" if t.ok else "MISSED", t.name, f"{t.value:.2f}", f"{t.target:.2f}", t.unit, t.about)
        for t in targets
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
