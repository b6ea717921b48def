"""Trees of patterns in the spelling of google-re2, which answers in linear time."""

from __future__ import annotations

from typing import Final, NamedTuple

from a2ui.safety.pattern_tree import Chars, Choice, Edge, Look, Node, Repeat, Sequence

_MOST_COPIES: Final = 1_000
"""What re2 allows as the product of nested counts."""
_EDGES: Final = {"^": "^", "$": "$", "b": r"\b"}


class Linear(NamedTuple):
    """A pattern for re2, with about how many instructions it has.

    `weight`: about how many of them may be alive at once; a byte of a text costs up to as many steps. `copies`: the
    largest product of nested counts.
    """

    text: str
    weight: int
    instructions: int
    copies: int = 1


def write(node: Node) -> Linear | None:
    """The pattern for re2, None where it cannot answer."""
    match node:
        case Chars(chars):
            return Linear(chars.text(), chars.weight, chars.instructions)
        case Edge("B"):
            # Would be found between the bytes of one character.
            return None
        case Edge(kind):
            return Linear(_EDGES[kind], 1, 1)
        case Look():
            return None
        case Repeat(item, low, high):
            inner = write(item)
            return inner and _repeat(inner, low, high)
        case Sequence(parts):
            return _joined(parts, "")
        case Choice(options):
            return _joined(options, "|")


def _joined(nodes: tuple[Node, ...], between: str) -> Linear | None:
    found: list[Linear] = []
    for node in nodes:
        inner = write(node)
        if inner is None:
            return None
        found.append(inner)
    return Linear(
        f"(?:{between.join([inner.text for inner in found])})",
        max(1, sum([inner.weight for inner in found])),
        max(1, sum([inner.instructions for inner in found])),
        max([inner.copies for inner in found], default=1),
    )


def _repeat(item: Linear, low: int, high: int | None) -> Linear:
    """Counts that re2 would refuse are cut into pieces: `x{1500}` is `x{1000}x{500}`."""
    piece = _MOST_COPIES // item.copies
    text = f"(?:{item.text})"
    if high is None and low == 1:
        parts = [text + "+"]
    else:
        parts = [f"{text}{{{count}}}" for count in _pieces(low, piece)]
        if high is None:
            parts.append(text + "*")
        else:
            parts += [f"{text}{{0,{count}}}" for count in _pieces(high - low, piece)]
    times = max(1, low if high is None else high)
    copies = min(times, piece) * item.copies
    return Linear(f"(?:{''.join(parts)})", times * item.weight, times * item.instructions, copies)


def _pieces(count: int, piece: int) -> list[int]:
    return [piece] * (count // piece) + ([count % piece] if count % piece else [])
