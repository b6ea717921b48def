"""The commands of docs/peers.md, run as they stand there against a server."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from beachsite.suite import ROOT
from tests.liveserver import Server

GUIDE = (ROOT / "docs" / "peers.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"```sh\n(.*?)```", GUIDE, re.DOTALL)


def heard(server: Server, command: str, **variables: str) -> str:
    """What a command prints that does not end, as far as all that was there."""
    environ = {**server.environ, "BEACH": server.url, **variables}
    told = ""
    with subprocess.Popen(  # noqa: S602 - our own document
        f"exec {command}", shell=True, cwd=ROOT, env=environ, stdout=subprocess.PIPE, text=True
    ) as running:
        assert running.stdout is not None
        for line in running.stdout:
            told += line
            if line == "event: upToDate\n":
                break
        running.kill()
    return told


def shell(server: Server, command: str, **variables: str) -> str:
    command = command.replace("python3 manage.py", f"{sys.executable} manage.py")
    command = "".join(line for line in command.splitlines(keepends=True) if not line.startswith("export"))
    environ = {**server.environ, "BEACH": server.url, **variables}
    done = subprocess.run(  # noqa: S602 - our own document
        command, shell=True, check=True, cwd=ROOT, env=environ, capture_output=True, text=True, timeout=120
    )
    return done.stdout


@pytest.mark.faults
def test_the_commands_of_the_guide_work_as_they_stand_there(server: Server, tmp_path: Path) -> None:
    add, begin, say, keep, answer, follow = COMMANDS
    token = shell(server, add).strip()
    session = json.loads(shell(server, begin, TOKEN=token))["id"]

    said = json.loads(shell(server, say, TOKEN=token, SESSION=session))
    assert {"domain-data", "response"} <= {part["metadata"]["partType"] for part in said["parts"]}
    turn = said["meta"]["turnId"]
    assert json.loads(shell(server, say, TOKEN=token, SESSION=session)) == said
    assert json.loads(shell(server, answer, TOKEN=token, SESSION=session, TURN=turn)) == said

    (tmp_path / "orders.csv").write_text("a,b\n")
    kept = shell(server, keep.replace("@", f"@{tmp_path}/"), TOKEN=token, SESSION=session)
    assert json.loads(kept)["sizeBytes"] == 4

    told = heard(server, follow, TOKEN=token, SESSION=session)
    assert told.startswith("retry: ")
    events = re.findall(r"^event: (\w+)$", told, re.MULTILINE)
    assert events[:2] == ["messageReceived", "turnStateChanged"]
    assert events[-2:] == ["settled", "upToDate"]
