"""Gates: places where a server waits for a test. They are files, so they outlive processes and hold in all of them."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from pathlib import Path


class Gates:
    """A gate is open unless it was shut. How often one was reached is counted, however many processes did it."""

    def __init__(self, data: Path) -> None:
        self.folder = data / "gates"
        self.folder.mkdir(exist_ok=True)

    # -- the test -------------------------------------------------------------------------------------------------

    def shut(self, name: str) -> None:
        (self.folder / f"{name}.shut").touch()

    def open(self, name: str) -> None:
        (self.folder / f"{name}.shut").unlink(missing_ok=True)

    def make_fatal(self, name: str) -> None:
        """Whoever comes there next ends itself with SIGKILL, before anything else happens in its process."""
        (self.folder / f"{name}.fatal").touch()

    def reached(self, name: str) -> int:
        """How often anybody came to this gate."""
        return len(self.notes(name))

    async def wait(self, name: str, times: int = 1, *, seconds: float = 20) -> None:
        """Until the gate was reached that often."""
        deadline = time.monotonic() + seconds
        while self.reached(name) < times:
            assert time.monotonic() < deadline, f"nobody came to the gate {name!r}"
            await asyncio.sleep(0.01)

    def notes(self, name: str) -> list[str]:
        """What servers have noted under this name, in the order in which they did."""
        try:
            return (self.folder / name).read_text().splitlines()
        except FileNotFoundError:
            return []

    # -- the server -----------------------------------------------------------------------------------------------

    async def passing(self, name: str) -> None:
        """Say that this place was reached, then wait until it is open."""
        self.note(name, "here")
        if (fatal := self.folder / f"{name}.fatal").exists():
            fatal.unlink()
            os.kill(os.getpid(), signal.SIGKILL)
        while (self.folder / f"{name}.shut").exists():  # noqa: ASYNC110 - another process opens it
            await asyncio.sleep(0.01)

    def note(self, name: str, line: str) -> None:
        """Keep a line, whatever becomes of this process: the system has it when this returns."""
        with (self.folder / name).open("a") as log:
            log.write(f"{line}\n")
