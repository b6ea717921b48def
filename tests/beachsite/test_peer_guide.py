"""The commands of docs/peers.md, run as they stand there against a server."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest

from beachsite.suite import ROOT
from tests.liveserver import Server

GUIDE = (ROOT / "docs" / "peers.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"```sh\n(.*?)```", GUIDE, re.DOTALL)


def shell(server: Server, command: str, **variables: str) -> str:
    command = command.replace("python3 manage.py", f"{sys.executable} manage.py")
    command = "".join(line for line in command.splitlines(keepends=True) if not line.startswith("export"))
    environ = {**server.environ, "BEACH": server.url, **variables}
    done = subprocess.run(  # noqa: S602 - our own document
        command, shell=True, check=True, cwd=ROOT, env=environ, capture_output=True, text=True, timeout=120
    )
    return done.stdout


@pytest.mark.faults
def test_the_commands_of_the_guide_work_as_they_stand_there(server: Server) -> None:
    add, begin, say, answer, follow = COMMANDS
    token = shell(server, add).strip()
    session = json.loads(shell(server, begin, TOKEN=token))["id"]

    said = json.loads(shell(server, say, TOKEN=token, SESSION=session))
    assert {"domain-data", "response"} <= {part["metadata"]["partType"] for part in said["parts"]}
    turn = said["meta"]["turnId"]
    assert json.loads(shell(server, say, TOKEN=token, SESSION=session)) == said
    assert json.loads(shell(server, answer, TOKEN=token, SESSION=session, TURN=turn)) == said

    # It ends by itself once it has been blocked.
    listening = follow.replace("curl -sN", "timeout 3 curl -sN").rstrip() + " || true"
    told = shell(server, listening, TOKEN=token, SESSION=session)
    assert told.startswith("retry: ")
    events = re.findall(r"^event: (\w+)$", told, re.MULTILINE)
    assert events[:2] == ["messageReceived", "turnStateChanged"]
    assert events[-2:] == ["settled", "upToDate"]
