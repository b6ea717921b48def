"""What of a surface that a model wrote refuses its call: where, of which component, and what may stand there (D60).

What code wrote, in tools and templates, is drawn as far as it goes and reported.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from a2ui import Diagnostic, SurfaceSet, faults, is_lost, unfinished
from envelopes.types import JsonObject

MOST_TOLD = 20
"""Problems of one call that its model is told of."""


class Strictness:
    """For the surface messages of one call of ``owner``."""

    def __init__(self, surfaces: SurfaceSet, owner: str) -> None:
        self._surfaces = surfaces
        self._owner = owner
        self._written: dict[str, tuple[int, dict[str, str]]] = {}
        """The surfaces whose components were written: by which part, and where each component stands in that."""

    def judged(
        self, part: int, pointer: str, message: JsonObject, problems: Sequence[Diagnostic]
    ) -> tuple[list[JsonObject], list[Diagnostic]]:
        """(refusals, what is only reported) of a message of part number ``part`` that has just been applied; it stands
        at ``pointer`` in that."""
        verb, body = next(
            ((key, one) for key, one in message.items() if key != "version" and isinstance(one, dict)),
            ("", {}),
        )
        where = f"{pointer}/{verb}"
        surface_id = body.get("surfaceId")
        surface = self._surfaces.get(self._owner, surface_id) if isinstance(surface_id, str) else None
        found = faults(surface, message, problems)
        if surface is not None and not found and (verb == "createSurface" or "components" in body):
            _, places = self._written.setdefault(surface.id, (part, {}))
            rows = body.get("components") or ()
            places |= {
                row["id"]: f"{where}/components/{number}"
                for number, row in enumerate(rows)
                if isinstance(row, dict) and isinstance(row.get("id"), str)
            }
        lost = {problem.path for problem in found}
        told = [problem for problem in problems if not problem.refused and problem.path not in lost]
        return [_as_json(part, problem, f"{where}{problem.path}") for problem in found], told

    def at_the_end(self, drawn: Iterable[Diagnostic]) -> list[JsonObject]:
        """Refusals of what its surfaces still lack, and of what showed while they were drawn."""
        found: list[JsonObject] = []
        for surface_id, (part, places) in self._written.items():
            surface = self._surfaces.get(self._owner, surface_id)
            if surface is not None:
                found += [_as_json(part, one, one.path) for one in unfinished(surface, places)]
        for problem in drawn:
            part, places = self._written.get(problem.surface_id, (0, {}))
            pointer = places.get(str(problem.facts.get("component", "")))
            if pointer is not None and is_lost(problem):
                found.append(_as_json(part, problem, pointer))
        return found


def _as_json(part: int, problem: Diagnostic, pointer: str) -> JsonObject:
    told: JsonObject = {
        "part": f"/parts/{part}",
        "code": problem.code,
        "surfaceId": problem.surface_id,
        "path": problem.path,
        "pointer": f"/parts/{part}{pointer}",
        "message": problem.message,
    }
    for fact in ("component", "allowed"):
        if fact in problem.facts:
            told[fact] = problem.facts[fact]
    return told


def shortened(refused: Sequence[JsonObject]) -> list[JsonObject]:
    """The first of them; a list of what is allowed is told once, however many problems it belongs to."""
    told: list[JsonObject] = []
    known: list[object] = []
    for problem in refused[:MOST_TOLD]:
        allowed = problem.get("allowed")
        repeated = allowed is not None and allowed in known
        told.append({key: one for key, one in problem.items() if not (repeated and key == "allowed")})
        known.append(allowed)
    return told
