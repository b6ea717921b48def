"""Backup and restore as docs/operating.md has them, on both databases: what is lost is there again, and verifies."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from collections.abc import Callable
from itertools import groupby
from pathlib import Path
from string import Template

import psycopg

from tests.liveserver import Server
from tests.operating.guide import piece
from tests.visitor import Visitor

DJANGO = "python manage.py "
BOOK = "Book easyJet EJ4521 on 15 August for Ada Lovelace, 2 tickets"


def run(name: str, server: Server, folder: Path) -> str:
    """A script of the page, line by line: its commands of Django as tests run those, the others by a shell."""
    known = {
        "to": str(folder),
        "from": str(folder),
        "DATA": str(server.data),
        "SQLITE": str(server.data / "beach.sqlite3"),
        "DATABASE": server.environ.get("DATABASE_URL", ""),
    }
    told = ""
    for ours, lines in groupby(piece(name).splitlines(), key=lambda line: line.startswith(DJANGO)):
        if not ours:
            script = "\n".join(lines)
            subprocess.run(
                ["bash", "-euc", script, name, str(folder)], env={**os.environ, **known}, check=True
            )
            continue
        # In one process: what they do is tried here, not how long Django takes to come up.
        code = ["from django.core.management import call_command"]
        for line in lines:
            command, _, target = line.removeprefix(DJANGO).partition(" > ")
            words = shlex.split(Template(command).substitute(known))
            out = (
                f", stdout=open({Template(target).substitute(known).strip(chr(34))!r}, 'w')" if target else ""
            )
            code.append(f"call_command(*{words!r}{out})")
        told += server.manage("shell", "-v", "0", "-c", "\n".join(code))
    return told


def lose(server: Server) -> None:
    """The machine is gone, but for an empty database."""
    shutil.rmtree(server.data / "artifacts")
    if url := server.environ.get("DATABASE_URL"):
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("DROP SCHEMA public CASCADE")
            connection.execute("CREATE SCHEMA public")
    else:
        (server.data / "beach.sqlite3").write_bytes(b"")


async def test_what_is_lost_is_there_again_and_verifies(
    database: dict[str, str],
    make_server: Callable[..., Server],
    tmp_path: Path,
) -> None:
    kind = "" if database else "-sqlite"
    server = make_server(environ={**database, "BEACH_SCRIPT_PACE": "0"})
    visitor = await (await Visitor.arrive(server)).connect()
    await visitor.say(BOOK)
    await visitor.until(lambda: len(visitor.approvals()) == 1)
    await visitor.ask({"type": "decide", "approval": visitor.approvals()[0], "decision": "granted"})
    await visitor.settles(2)
    files = sorted(path.name for path in (server.data / "artifacts").rglob("*") if path.is_file())
    # While it serves.
    run(f"backup{kind}.sh", server, tmp_path / "copy")

    await visitor.drop()
    server.stop()
    lose(server)
    told = run(f"restore{kind}.sh", server, tmp_path / "copy")
    run("daily.sh", server, tmp_path)
    server.start()

    assert (tmp_path / "copy" / "audit.txt").read_text().strip() in told
    assert files and files == sorted(
        path.name for path in (server.data / "artifacts").rglob("*") if path.is_file()
    )
    await visitor.connect()
    await visitor.is_as_reloaded()
    await visitor.say("Thanks")
    await visitor.settles(visitor.endings + 1)
    await visitor.drop()
