"""What is wrong with a program: everything that the engine reports and everything that the schemas refuse."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from a2ui.catalog.kinds import DEPRECATED
from a2ui.errors import VALIDATION_FAILED, Diagnostic
from a2ui.programs.tree import is_pseudo, perform
from a2ui.protocol.dialects import dialect_of
from a2ui.protocol.messages import DeleteSurface, read
from a2ui.surface.former import SURFACE_ID_REUSED
from a2ui.surface.refusing import schema_problems
from a2ui.surface.topology import topology_problems

if TYPE_CHECKING:
    from a2ui.engine import Engine
    from a2ui.surfaces import SurfaceSet


_MILD = frozenset({DEPRECATED, SURFACE_ID_REUSED})
"""What is only told: the program does what it means."""


@dataclass(frozen=True, slots=True)
class Finding:
    """`message` is the position in the program, None for what concerns the finished surface.

    A warning is what a renderer shows as it was meant, and strict validators of finished programs refuse.
    """

    message: int | None
    severity: Literal["error", "warning"]
    diagnostic: Diagnostic

    def as_json(self) -> dict[str, Any]:
        """The finding as a JSON object."""
        found = self.diagnostic
        return {
            "message": self.message,
            "severity": self.severity,
            "code": found.code,
            "surfaceId": found.surface_id,
            "path": found.path,
            "text": found.message,
            "refused": found.refused,
        }

    def __str__(self) -> str:
        where = "at the end" if self.message is None else f"message {self.message}"
        found = self.diagnostic
        return f"{where}: {self.severity}: {found.code} {found.path or '/'}: {found.message}"


def check(engine: Engine, program: Iterable[Any], *, strict: bool = False) -> list[Finding]:
    """Runs the program and collects what is wrong. `strict`: warnings are errors."""
    surfaces = engine.surfaces()
    findings: list[Finding] = []
    mild: Literal["error", "warning"] = "error" if strict else "warning"
    for position, message in enumerate(program):
        found = _schema(surfaces, engine, message)
        if is_pseudo(message):
            problems = [] if perform(surfaces, message) is None else [_pseudo_failed(message)]
        else:
            problems = surfaces.apply(message)
        specific = {problem.path for problem in problems if problem.code != VALIDATION_FAILED}
        found = [problem for problem in found if problem.path not in specific]
        found += [problem for problem in problems if not _covered(problem, found)]
        surfaces.flush()
        found += surfaces.diagnostics()
        findings += [
            Finding(position, mild if diagnostic.code in _MILD else "error", diagnostic)
            for diagnostic in found
        ]
    for surface in surfaces:
        findings += [Finding(None, mild, diagnostic) for diagnostic in topology_problems(surface)]
    return findings


def _schema(surfaces: SurfaceSet, engine: Engine, message: Any) -> list[Diagnostic]:
    """What the schemas refuse; not refused here, since the engine goes on with the rest."""
    if not isinstance(message, dict) or dialect_of(message.get("version")) is None:
        return []
    typed = read(message, engine.options.limits)
    if isinstance(typed, list | DeleteSurface):
        return []
    surface = surfaces.get("", typed.surface_id)
    return [replace(problem, refused=False) for problem in schema_problems(engine, message, typed, surface)]


def _covered(problem: Diagnostic, found: list[Diagnostic]) -> bool:
    """Whether the schema said it already, at that place or inside of it."""
    return not problem.refused and any(
        one.path == problem.path or one.path.startswith(f"{problem.path}/") for one in found
    )


def _pseudo_failed(message: dict[str, Any]) -> Diagnostic:
    return Diagnostic(VALIDATION_FAILED, f"{next(iter(message))} could not be done.", refused=True)
