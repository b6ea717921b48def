"""The engine beside hand-written programs: ``python -m tests.bench.engine [--json]``.

Rows and targets are those of the project's issue on the engine. Ratios of CPU time within one run; microseconds are
for information. Exit code 2 where the shared folder with the floors is absent.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from statistics import mean
from time import process_time
from typing import Any

import orjson

from a2ui import Engine, EngineOptions, Limits, SurfaceSet
from envelopes.serving import collector
from tests.bench import only_1_0, own_catalog
from tests.bench.floors import ROOT, Floors, NoFloorsError, Workload
from tests.bench.in_1_0 import in_1_0
from tests.bench.report import JSON_FLAG, Target, show
from tests.bench.timing import Run, in_turn, per_call

LIMITS = Limits(components=60_000, instances=60_000, list_items=10_000)
SECONDS = 3.0
"""How long each row is measured."""
AT_ONCE = 25
"""List changes that are timed as one."""


def cold(engine: Engine, workload: Workload) -> Run:
    """JSON text to the HTML of a surface that was not there before."""

    def run() -> tuple[SurfaceSet, list[str]]:
        surfaces = engine.surfaces()
        for text in workload.messages:
            surfaces.apply(orjson.loads(text))
        return surfaces, [change.html for change in surfaces.flush()]

    return run


def live(engine: Engine, workload: Workload) -> SurfaceSet:
    """A session whose surface is on the page."""
    surfaces = engine.surfaces()
    for text in workload.messages:
        problems = surfaces.apply(orjson.loads(text))
        assert not problems, problems
    surfaces.flush()
    return surfaces


def frame(surfaces: SurfaceSet) -> bytes:
    """The bytes for the browser (D41)."""
    ops = [op for change in surfaces.flush() for op in change.ops]
    return orjson.dumps({"seq": 1, "prev": 0, "ops": ops, "busy": False})


def update(surfaces: SurfaceSet, text: bytes) -> bytes:
    """Message text to frame bytes."""
    surfaces.apply(orjson.loads(text))
    return frame(surfaces)


def patched(surfaces: SurfaceSet, text: bytes) -> bytes:
    """The text of RFC 6902 operations to frame bytes."""
    surfaces.patch("", "w2", orjson.loads(text))
    return frame(surfaces)


def applied(surfaces: SurfaceSet, message: Any) -> None:
    """Message to fragments."""
    surfaces.apply(message)
    surfaces.flush()


def tried(surfaces: SurfaceSet, message: Any) -> None:
    """The same as an attempt that is kept."""
    attempt = surfaces.attempt()
    surfaces.apply(message)
    surfaces.flush()
    attempt.keep()


def stream(step: Callable[[Any], object], lines: list[Any]) -> Callable[[], float]:
    """Measures the CPU seconds of one step, over all lines."""

    def run() -> float:
        began = process_time()
        for line in lines:
            step(line)
        return (process_time() - began) / len(lines)

    return run


def sum_of(runs: list[Run], calls: int) -> float:
    """The CPU seconds of all of them, one after the other."""
    return sum([per_call(run, calls) for run in runs])


def times(seconds: float) -> str:
    return f"{seconds * 1e6:,.1f} us"


class Bench:
    """All rows of one run."""

    def __init__(self, floors: Floors) -> None:
        self.floors = floors
        self.engine = Engine(EngineOptions(limits=LIMITS))
        self.w2, self.w5 = floors.w2(1000), floors.w5()
        self.limit = floors.rows(self.w2)
        self.update_limit = stream(floors.update(self.w2), self.w2.updates)

    def rows(self) -> Iterator[Target]:
        # From small to large: each leaves its mark on the memory of the process, where the next one has to live.
        yield from self.examples()
        yield from self.whole()
        yield from self.updates()
        yield from self.attempts()
        yield from self.lists()
        yield self.replaced()
        yield self.memory()
        yield self.growth()
        yield from self.newer()
        yield from only_1_0.rows(LIMITS, SECONDS)
        yield from own_catalog.rows(LIMITS, SECONDS, self.update_limit)

    def against(self, name: str, run: Run, limit: Run, unit: str, target: float, calls: int = 1) -> Target:
        """A whole surface against its floor. Both for about as long each time: what a busy host takes from a long
        measurement it would leave to a short one."""
        alike = round(per_call(run, calls) * calls / per_call(limit, 5))
        taken, floor = in_turn(
            [lambda: per_call(run, calls), lambda: per_call(limit, max(5, alike))], SECONDS
        )
        return Target.at_most(name, taken / floor, unit, target, f"{times(taken)} against {times(floor)}")

    def whole(self) -> Iterator[Target]:
        """Programs that come for the first time."""
        floors, engine = self.floors, self.engine
        form, static = cold(engine, floors.w4()), floors.w3(1000)
        yield self.against("cold W4", form, self.limit, "x limit(W2-1000)", 1.4, calls=5)
        limit = floors.dashboard(self.w5)
        yield self.against("cold W5", cold(engine, self.w5), limit, "x limit(W5)", 16, calls=5)
        yield self.against("cold W2-1000", cold(engine, self.w2), self.limit, "x limit(W2-1000)", 8)
        limit = floors.rows(static)
        yield self.against("cold W3-1000", cold(engine, static), limit, "x limit(W3-1000)", 36)

    def newer(self) -> Iterator[Target]:
        """The same surfaces in 1.0, each whole in one message, beside their 0.9."""
        floors, engine = self.floors, self.engine
        whole = {"W2-1000": self.w2, "W3-1000": floors.w3(1000), "W4": floors.w4(), "W5": self.w5}
        kinds = {"W1": floors.w1(), **{name: [workload] for name, workload in whole.items()}}
        for name, workloads in kinds.items():
            older = [cold(engine, workload) for workload in workloads]
            newer = [cold(engine, in_1_0(workload)) for workload in workloads]
            runs = [partial(sum_of, one, 3) for one in (newer, older)]
            taken, before = in_turn(runs, SECONDS)
            about = f"{times(taken)} against {times(before)}"
            yield Target.at_most(f"cold {name} in 1.0", taken / before, "x in 0.9", 1.05, about)
        for name, workload in (("keystroke in W4", floors.w4()), ("update in W2-1000", self.w2)):
            both = [in_1_0(workload), workload]
            steps = [stream(partial(update, live(engine, one)), one.updates) for one in both]
            taken, before = in_turn(steps, SECONDS)
            about = f"{times(taken)} against {times(before)}"
            yield Target.at_most(f"{name}, in 1.0", taken / before, "x in 0.9", 1.05, about)

    def growth(self) -> Target:
        """Five times as many components."""
        small, large = (cold(self.engine, self.floors.w3(count)) for count in (1000, 5000))
        taken, less = in_turn([lambda: per_call(large, 1), lambda: per_call(small, 1)], SECONDS)
        about = f"{times(taken)} against {times(less)}"
        return Target.at_most("cold W3-5000", taken / less, "x cold W3-1000", 7, about)

    def examples(self) -> Iterator[Target]:
        runs = [cold(self.engine, program) for program in self.floors.w1()]

        def once() -> float:
            return mean([per_call(run, 3) for run in runs])

        taken, floor = in_turn([once, lambda: per_call(self.limit, 5)], SECONDS)
        about = f"{times(taken)} each of {len(runs)}"
        yield Target.at_most("W1, mean of the examples", taken / floor, "x limit(W2-1000)", 0.16, about)

    def updates(self) -> Iterator[Target]:
        """One change of the data."""
        floors, engine = self.floors, self.engine
        form, w4 = live(engine, floors.w4()), floors.w4()
        rows, dashboard = live(engine, self.w2), live(engine, self.w5)
        tiny, w2_tiny = live(engine, floors.w2(10)), floors.w2(10)
        huge, w2_huge = live(engine, floors.w2(5000)), floors.w2(5000)
        runs = [
            stream(partial(update, surfaces), workload.updates)
            for surfaces, workload in (
                (rows, self.w2), (dashboard, self.w5), (form, w4), (tiny, w2_tiny), (huge, w2_huge),
            )
        ]  # fmt: skip
        in_w2, in_w5, key, in_tiny, in_huge, floor = in_turn([*runs, self.update_limit], 2 * SECONDS)
        unit = "x update_limit"
        yield Target.at_most("keystroke in W4", key / floor, unit, 70, times(key))
        yield Target.at_most(
            "update in W2-1000", in_w2 / floor, unit, 20, f"{times(in_w2)}, floor {times(floor)}"
        )
        yield Target.at_most("update in W5", in_w5 / floor, unit, 20, times(in_w5))
        yield Target.at_most("update in W2-5000", in_huge / in_tiny, "x update in W2-10", 1.3, times(in_huge))
        for name, surfaces, workload in (("W2-1000", rows, self.w2), ("W5", dashboard, self.w5)):
            sizes = [len(update(surfaces, line)) / len(line) for line in workload.updates]
            yield Target.at_most(f"frame of an update in {name}", mean(sizes), "x message bytes", 1.5)

    def attempts(self) -> Iterator[Target]:
        """One change of the data that could be undone until it is kept."""
        for count in (5, 500):
            workload = self.floors.w2(count)
            messages = [orjson.loads(line) for line in workload.updates]
            runs = [stream(partial(step, live(self.engine, workload)), messages) for step in (tried, applied)]
            taken, plain = in_turn(runs, SECONDS)
            name = f"update in W2-{count}, as an attempt"
            yield Target.at_most(
                name, taken / plain, "x without", 1.15, f"{times(taken)} against {times(plain)}"
            )

    def lists(self) -> Iterator[Target]:
        """Items that come, go and move in a list of 1000."""
        surfaces = live(self.engine, self.w2)
        count = len(self.w2.model["items"])
        fresh = iter(range(10**9))
        frames: dict[str, list[bytes]] = {"append": [], "remove": [], "move": []}

        def timed(kind: str, texts: list[bytes], step: Callable[[SurfaceSet, bytes], bytes]) -> float:
            began = process_time()
            frames[kind] = [step(surfaces, text) for text in texts]
            return (process_time() - began) / len(texts)

        def append() -> float:
            messages = [
                {
                    "version": "v0.9",
                    "updateDataModel": {
                        "surfaceId": "w2", "path": f"/items/{count + n}", "value": self.floors.item(next(fresh)),
                    },
                }
                for n in range(AT_ONCE)
            ]  # fmt: skip
            return timed("append", [orjson.dumps(message) for message in messages], update)

        def remove() -> float:
            ops = [[{"op": "remove", "path": f"/items/{count // 2 + n}"}] for n in range(AT_ONCE)]
            return timed("remove", [orjson.dumps(op) for op in ops], patched)

        def move() -> float:
            ops = [
                [{"op": "move", "from": f"/items/{n * 7}", "path": f"/items/{count - 1 - n * 3}"}]
                for n in range(AT_ONCE)
            ]
            return timed("move", [orjson.dumps(op) for op in ops], patched)

        taken = in_turn([append, remove, move, self.update_limit], SECONDS)
        for kind, seconds in zip(frames, taken, strict=False):
            name = f"{kind} one of {count} items"
            yield Target.at_most(name, seconds / taken[-1], "x update_limit", 45, times(seconds))
        item = len(orjson.loads(frames["append"][-1])["ops"][0][-1])
        for kind, sent in frames.items():
            yield Target.at_most(f"frame of one {kind}", len(sent[-1]) / item, "x HTML of the item", 2)

    def replaced(self) -> Target:
        """The same list again, with one item changed."""
        surfaces = live(self.engine, self.w2)
        items: list[Any] = orjson.loads(orjson.dumps(self.w2.model["items"]))
        items[500]["name"] = "Changed"
        message = {
            "version": "v0.9",
            "updateDataModel": {"surfaceId": "w2", "path": "/items", "value": items},
        }
        ops = orjson.loads(update(surfaces, orjson.dumps(message)))["ops"]
        return Target.at_most("list replaced, one item changed", len(ops), "fragments", 1, str(ops)[:60])

    def memory(self) -> Target:
        """In a process of its own, where nothing else fills the gaps that others left."""
        command = [sys.executable, "-m", "tests.bench.memory"]
        printed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
        return Target.at_most("idle session with a W1 surface", int(printed) / 1024, "KiB resident", 60)


def main() -> int:
    """Prints all rows."""
    try:
        bench = Bench(Floors())
    except NoFloorsError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    collector.settle()
    sys.stdout.write(show(list(bench.rows()), as_json=JSON_FLAG in sys.argv[1:]) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
