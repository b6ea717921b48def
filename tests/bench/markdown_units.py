"""The dearest Markdown of repeated characters: ``python -m tests.bench.markdown_units [count [seed]]``.

Tries units of one to three characters, in a random order, at several lengths, and prints the dearest by processor
time for each KiB and for each mark that `Limits.markdown_work` counts. `docs/limits.md` says what they may come to.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import product
from random import Random
from typing import NamedTuple

from a2ui.safety import markdown
from tests.fuzz.cost import cost

SIGNS = '#>%"*_`[]()!<&~|-+=:\\\n a1.@/\t;'
LENGTHS = (60, 250, 1_000, 3_000, 7_990)


class Tried(NamedTuple):
    """`marks` is what the text counts for, None where it is shown plain."""

    unit: str
    chars: int
    ms: float
    marks: int | None


def units(seed: int) -> Iterator[str]:
    """All units, in an order of their own for each seed."""
    found = ["".join(signs) for size in (1, 2, 3) for signs in product(SIGNS, repeat=size)]
    Random(seed).shuffle(found)
    yield from found


def tried(unit: str, chars: int) -> Tried:
    """What a text of this unit costs, by throughput: short ones are read as often as fit into a long one."""
    text = (unit * chars)[:chars]
    times = max(1, 2_000 // chars)
    marks: list[int] = []

    def afford(_: str, count: int) -> bool:
        marks.append(count)
        return True

    def read() -> None:
        for number in range(times):
            markdown._render_cached.cache_clear()
            markdown.render(f"{text}{number}" if times > 1 else text, afford=afford)

    return Tried(unit, chars, cost(read, bound=0.0, tries=3) / times, marks[0] if marks else None)


def main(arguments: list[str]) -> None:
    """Prints the dearest."""
    given = [int(one) for one in arguments]
    count, seed = given[0] if given else 500, given[1] if len(given) > 1 else 1
    random = Random(seed)
    found = [tried(unit, random.choice(LENGTHS)) for _, unit in zip(range(count), units(seed), strict=False)]
    for title, worth in (
        ("ms a KiB", lambda one: one.ms / one.chars * 1024 if one.chars > 900 else 0.0),
        ("us a mark", lambda one: 1000 * one.ms / one.marks if one.marks else 0.0),
        ("ms a text", lambda one: one.ms),
    ):
        for one in sorted(found, key=worth, reverse=True)[:12]:
            print(
                f"{worth(one):8.2f} {title}  {one.unit!r} x {one.chars}, {one.marks} marks, {one.ms:.2f} ms"
            )


if __name__ == "__main__":
    main(sys.argv[1:])
