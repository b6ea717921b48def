"""Loading an SDK takes seconds, so this is not among the tests of every day."""

from __future__ import annotations

import subprocess
import sys

from beachsite.suite import ROOT


def test_the_sdk_has_nothing_left_to_load_once_it_is_warm() -> None:
    """In a process of its own: here everything has been loaded long ago."""
    script = """
import asyncio, sys
import django; django.setup()
from envelopes.fakes import FakeMessagesApi, Reply, respond, said
from envelopes.providers.anthropic import AnthropicProvider
from envelopes.providers.port import ModelRequest

async def go():
    async with FakeMessagesApi() as api:
        provider = AnthropicProvider("key", "claude-sonnet-5-5", base_url=api.base_url)
        await provider.warm()
        before = {name for name in sys.modules if name.startswith("anthropic.")}
        request = ModelRequest("", [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}], [])
        async for _ in provider.stream(request): pass
        after = {name for name in sys.modules if name.startswith("anthropic.")}
        print(len(before) > 20, sorted(after - before)[:5])
        await provider.aclose()
asyncio.run(go())
"""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script],
        cwd=ROOT,
        env={"DJANGO_SETTINGS_MODULE": "beachsite.settings.test", "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.stdout.strip() == "True []", done.stderr
