"""What an idle session holds: ``python -m tests.bench.memory`` prints the bytes that one adds to the process."""

from __future__ import annotations

import ctypes
import gc
import os
import sys
from pathlib import Path

import orjson

from a2ui import Engine, SurfaceSet
from envelopes.serving import collector
from tests.bench.floors import Floors, Workload

SESSIONS = 600


def resident() -> int:
    """Resident bytes of this process, with what the allocator could give back given back."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def session(engine: Engine, workload: Workload) -> SurfaceSet:
    """A session whose one surface is on the page. Its messages are its own, as they are in a server."""
    surfaces = engine.surfaces()
    for text in workload.messages:
        surfaces.apply(orjson.loads(text))
    surfaces.flush()
    return surfaces


def per_session() -> float:
    """Bytes a session adds, over the example programs in turn."""
    programs = Floors().w1()
    engine = Engine()
    held = [session(engine, program) for program in programs]
    collector.settle()
    before = resident()
    held += [session(engine, programs[number % len(programs)]) for number in range(SESSIONS)]
    return (resident() - before) / SESSIONS


if __name__ == "__main__":
    sys.stdout.write(f"{per_session():.0f}\n")
