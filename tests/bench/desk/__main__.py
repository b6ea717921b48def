"""``python -m tests.bench.desk [--json] [--conversations N] [--only sqlite | postgres]``

Six minutes. Exit code 1 when a database could not be measured, whatever the figures of the other are.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any, get_args

from tests.bench.desk.measuring import FRAME, Measured
from tests.bench.report import Target, show
from tests.bench.serving.database import Kind, Template, scratch_folder
from tests.bench.serving.processes import BenchError, run

SMALL, LARGE = 100, 100_000
"""Conversations, of ten rows and an approval each."""

SECONDS = 3_600
"""How long one database may take to be filled and measured: two minutes, unless others use the machine."""

QUERIES, TIMES = 12, 4
"""What a page may ask, and how long it may take: so many times its own queries by hand and the frame that it stands in.
The former alone is told too: for a page whose queries take a millisecond it says what Django takes."""


def _measured(kind: Kind, count: int) -> dict[str, Any]:
    """What ``in_database`` prints for a new database of ``kind``."""
    with ExitStack() as stack:
        template = Template(kind, stack.enter_context(scratch_folder()), stack)
        return dict(
            json.loads(
                run([sys.executable, "-m", "tests.bench.desk.in_database", str(count)], template.environ)
            )
        )


def _rows(kind: Kind, few: dict[str, Any], many: dict[str, Any], count: int) -> Iterator[Target]:
    yield Target.known(f"{kind}: filled with {count:,}", many["seconds"], "s")
    frame = Measured(**many["pages"][FRAME])
    yield Target.known(f"{kind}: frame alone", frame.page, "ms")
    for name, plain in many["pages"].items():
        if name == FRAME:
            continue
        page, small = Measured(**plain), Measured(**few["pages"][name])
        title = f"{kind}: {name}"
        yield Target.at_most(f"{title}, queries", page.queries, "", QUERIES)
        yield Target.at_most(f"{title}, queries more than with {SMALL}", page.queries - small.queries, "", 0)
        about = f"{page.page:.1f} ms, {page.kilobytes:.0f} kB; {page.slowest[:120]}"
        floor = page.by_hand + frame.page
        yield Target.at_most(f"{title}, time", page.page / floor, "x queries and frame", TIMES, about)
        by_hand = f"queries by hand {page.by_hand:.1f} ms"
        yield Target.known(f"{title}, time by its queries alone", page.page / page.by_hand, "x", by_hand)


def main() -> int:
    """Measures and prints."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.desk", description="Every page of the desk.")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of a table")
    parser.add_argument("--conversations", type=int, default=LARGE, metavar="N", help="default: %(default)s")
    parser.add_argument("--only", choices=get_args(Kind), help="this database alone")
    arguments = parser.parse_args()
    targets: list[Target] = []
    failed = False
    for kind in get_args(Kind):
        if arguments.only not in (None, kind):
            continue
        try:
            few, many = _measured(kind, SMALL), _measured(kind, arguments.conversations)
        except BenchError as error:
            targets.append(Target.not_run(f"{kind}: pages", "", None, str(error)))
            failed = True
        else:
            targets.extend(_rows(kind, few, many, arguments.conversations))
    sys.stdout.write(show(targets, as_json=arguments.json) + "\n")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
