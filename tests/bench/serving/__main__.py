"""``python -m tests.bench.serving [--json] [--only ROW,...] [--quick | --long] [--chainlit VENV] [--server COMMAND]``

Exit code 1 when a row could not be measured, whatever the figures of the others are.
"""

from __future__ import annotations

import argparse
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from types import FrameType
from typing import NoReturn

from tests.bench.report import Target, show
from tests.bench.serving import memory, pages, plan, sdk, sockets, statements, streams, turns, updates
from tests.bench.serving.bench import Bench
from tests.bench.serving.chainlit import Chainlit
from tests.bench.serving.database import scratch_folder
from tests.bench.serving.server import default_command

ROWS: dict[str, Callable[[Bench], Iterator[Target]]] = {
    "update": updates.update,
    "rate": updates.rate,
    "growth": updates.growth,
    "statements": statements.statements,
    "turn": turns.turn,
    "streams": streams.streams,
    "sdk": sdk.sdk,
    "ping": sockets.pings,
    "storm": sockets.storm,
    "page": pages.page,
    "replay": pages.replay,
    "memory": memory.memory,
    "steady": memory.steady,
}
"""In the order of the issue's table, as far as this bench has its rows."""


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.bench.serving", description="The app as it is served."
    )
    parser.add_argument("--json", action="store_true", help="one JSON object instead of a table")
    parser.add_argument("--only", default="", metavar="ROW,...", help=", ".join(ROWS))
    size = parser.add_mutually_exclusive_group()
    size.add_argument(
        "--quick", dest="plan", action="store_const", const=plan.QUICK, help="does it run? In 90 s"
    )
    size.add_argument("--long", dest="plan", action="store_const", const=plan.LONG, help="takes two hours")
    parser.set_defaults(plan=plan.NORMAL)
    parser.add_argument("--chainlit", metavar="VENV", type=Path, help="virtual environment with Chainlit")
    parser.add_argument(
        "--server", metavar="COMMAND", default=default_command(), help="what Python runs; {port} is filled in"
    )
    arguments = parser.parse_args()
    arguments.rows = [name for name in arguments.only.split(",") if name] or list(ROWS)
    if unknown := [name for name in arguments.rows if name not in ROWS]:
        parser.error(f"no such row: {', '.join(unknown)}")
    return arguments


def _terminated(_signal: int, _frame: FrameType | None) -> NoReturn:
    # As an exception, so that servers are ended and databases dropped.
    raise SystemExit(143)


def _measure(bench: Bench, names: list[str], targets: list[Target]) -> None:
    """Add all rows, each as soon as it was measured."""
    for name in names:
        began = time.monotonic()
        targets.extend(ROWS[name](bench))
        sys.stderr.write(f"{name}: {time.monotonic() - began:.0f} s\n")


def main() -> int:
    """Measures and prints: what there is, when it is interrupted."""
    arguments = _arguments()
    signal.signal(signal.SIGTERM, _terminated)
    # A shell that starts a job in the background has it ignore interrupts, and so would every server.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with ExitStack() as stack:
        folder = stack.enter_context(scratch_folder())
        chainlit = Chainlit(arguments.chainlit, folder) if arguments.chainlit else None
        bench = Bench(arguments.plan, arguments.rows, folder, arguments.server, chainlit, stack)
        targets: list[Target] = []
        try:
            _measure(bench, arguments.rows, targets)
        finally:
            # The floors that the rows needed, then the rows.
            sys.stdout.write(show([*bench.floors.told, *targets], as_json=arguments.json) + "\n")
            sys.stdout.flush()
    return 1 if bench.failed else 0


if __name__ == "__main__":
    try:
        raise SystemExit(main())
    except KeyboardInterrupt:
        raise SystemExit(130) from None
