"""What a suite is made of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import yaml

from tests.shared import SHARED

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""The one in C where there is one: the suites are long."""


@dataclass(frozen=True)
class Case:
    """One case: `run` raises AssertionError where the engine does something else."""

    suite: str
    name: str
    run: Callable[[], None]

    @property
    def id(self) -> str:
        return f"{self.suite}:{self.name}"


def yaml_file(path: str) -> list[dict[str, object]]:
    """The entries of a YAML suite below `spec/a2ui`."""
    assert SHARED is not None
    text = (SHARED / "spec/a2ui" / path).read_text(encoding="utf-8")
    loaded: list[dict[str, object]] = yaml.load(text, Loader=LOADER)  # noqa: S506 - either is the safe one
    return loaded
