"""Actors: who answers in a session."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from envelopes.providers.port import Provider
from envelopes.registries.base import Registry
from envelopes.registries.tools import Tool


@dataclass(frozen=True)
class Prompt:
    """A suggestion in the empty panel: a title, a line, and the text that it sends."""

    title: str
    detail: str
    text: str


@dataclass(frozen=True)
class Actor:
    """One agent.

    ``provider`` is called once per turn, so that settings and tests can choose the model. ``instructions`` are the
    actor's own part of the system prompt; the respond() snippet is added by the runtime.
    """

    name: str
    display_name: str
    role: str
    instructions: str
    provider: Callable[[], Provider]
    tools: tuple[Tool, ...] = ()
    prompts: tuple[Prompt, ...] = ()
    greeting: str = "What can I do for you?"
    pledge: str = ""

    def tool(self, name: str) -> Tool | None:
        return next((tool for tool in self.tools if tool.name == name), None)


actors: Registry[Actor] = Registry("actor")
