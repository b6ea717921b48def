"""The Python client of docs/live-channel.md, run as it stands there against a server."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from beachsite.suite import ROOT
from tests.beachsite.test_peer_guide import shell
from tests.liveserver import Server

GUIDE = (ROOT / "docs" / "live-channel.md").read_text(encoding="utf-8")
LINES = 40


@pytest.mark.parametrize("language", ["python", "js"])
def test_the_clients_are_short(language: str) -> None:
    (code,) = re.findall(rf"```{language}\n(.*?)```", GUIDE, re.DOTALL)
    assert len([line for line in code.splitlines() if line.strip()]) <= LINES


@pytest.mark.faults
def test_the_client_in_python_says_something_and_hears_the_answer(server: Server, tmp_path: Path) -> None:
    token = shell(server, "python3 manage.py beach peer add front --scopes chat,live").strip()
    headers = '-H "Authorization: Bearer $TOKEN" -H "Content-Type: application/json"'
    begin = f'curl -s "$BEACH/api/sessions" {headers} -d "{{}}"'
    session = json.loads(shell(server, begin, TOKEN=token))["id"]
    (code,) = re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL)
    script = tmp_path / "client.py"
    script.write_text(code, encoding="utf-8")
    environ = {**server.environ, "BEACH": server.url, "TOKEN": token, "SESSION": session}
    for _ in range(2):
        # The second time it is the same client that has lost what it heard: nothing is said twice.
        done = subprocess.run(
            [sys.executable, script], check=True, env=environ, capture_output=True, text=True, timeout=120
        )
        assert "easyJet" in done.stdout
