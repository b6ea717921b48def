"""``manage.py beach prompt``: what the model of an agent is told with each request, and how large that is."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from typing import Any

from django.core.management.base import CommandError

from envelopes.errors import RegistrationError
from envelopes.registries.actors import actors
from envelopes.runtime.prompting import Prompt, prompt_for
from envelopes.types import Json


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("actor", help="the name of an agent")
    parser.add_argument("--json", action="store_true", help="prints {system, tools, bytes, leftOut}")


def run(options: dict[str, Any], write: Callable[[str], object]) -> None:
    """Raises ``CommandError`` for an agent that is not there."""
    try:
        prompt = prompt_for(actors[options["actor"]])
    except RegistrationError as error:
        raise CommandError(error.message) from error
    sizes = sizes_of(prompt)
    if options["json"]:
        told = {"system": prompt.system, "tools": prompt.tools, "bytes": sizes, "leftOut": [*prompt.left_out]}
        write(json.dumps(told, ensure_ascii=False, indent=1))
        return
    write(prompt.system)
    for tool in prompt.tools:
        write(f"\nTool {tool['name']}: {tool['description']}")
        write(json.dumps(tool["input_schema"], ensure_ascii=False, indent=1))
    write("\nBytes of UTF-8")
    for name, size in sizes.items():
        write(f"  {size:>7,}  {name}")
    for name in prompt.left_out:
        write(f"No room for: {name}")


def sizes_of(prompt: Prompt) -> dict[str, int]:
    """Bytes of UTF-8: of each section of the prompt, of each tool, and together."""
    sections = {f"prompt: {name}": len(text.rstrip().encode()) for name, text in prompt.sections if text}
    tools = {f"tool: {tool['name']}": written(tool) for tool in prompt.tools}
    return {
        **sections,
        "the whole prompt": len(prompt.system.encode()),
        **tools,
        "all tools": written(prompt.tools),
    }


def written(value: Json) -> int:
    """Bytes of a value as JSON without blanks."""
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())
