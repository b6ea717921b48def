"""What holds parts of agents up before they become rows: each gate looks at those of its kind and lets them through, or
puts another one in their place. Asked by ``turns.parts``, under the session's lock."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from envelopes.log.append import Writer
from envelopes.models import Turn
from envelopes.protocol.parts import Part
from envelopes.registries.base import Registry


class Held(NamedTuple):
    """``part`` is what becomes a row; ``then`` is done once all rows of the call are there."""

    part: Part
    then: Callable[[], object] | None = None


Hold: TypeAlias = Callable[[Writer, Turn, str, Part], Held]


@dataclass(frozen=True)
class Gate:
    """``concerns(part)`` is asked of every part of an agent, so it is quick; ``hold(writer, turn, owner, part)`` of
    those alone."""

    name: str
    concerns: Callable[[Part], bool]
    hold: Hold


gates: Registry[Gate] = Registry("gate")


def concerns(part: Part) -> bool:
    """Whether some gate looks at ``part``."""
    return any(gate.concerns(part) for gate in gates)


def passed(
    writer: Writer, turn: Turn, owner: str, parts: Sequence[Part]
) -> tuple[list[Part], list[Callable[[], object]]]:
    """``parts`` as the gates let them through, and what is to be done after their rows."""
    through: list[Part] = []
    later: list[Callable[[], object]] = []
    for part in parts:
        let = part
        for gate in gates:
            if gate.concerns(let):
                let, then = gate.hold(writer, turn, owner, let)
                later += [then] if then is not None else []
        through.append(let)
    return through, later
