"""``manage.py beach prompt``: what the model of an agent is told with each request, and how large that is."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.management.base import CommandError

from envelopes.access import principal
from envelopes.errors import RegistrationError
from envelopes.registries.actors import Actor, Instructing, actors, default_actor
from envelopes.runtime.prompting import Prompt, prompt_for
from envelopes.types import Json


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "actor", nargs="?", help="the name of an agent; by default the one of new conversations"
    )
    parser.add_argument(
        "--user", default="", help="the account whose conversation it would be; by default a guest"
    )
    parser.add_argument("--json", action="store_true", help="prints {system, tools, bytes, leftOut}")


def run(options: dict[str, Any], write: Callable[[str], object]) -> None:
    """Raises ``CommandError`` for an agent and for an account that are not there."""
    try:
        actor = actors[options["actor"]] if options["actor"] else default_actor()
        prompt = prompt_for(actor, actor.instructions_for(_instructing(actor, options["user"])))
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


def _instructing(actor: Actor, username: str) -> Instructing:
    if not username:
        return Instructing(actor.name, locale=settings.LANGUAGE_CODE)
    users = get_user_model()
    try:
        user = users._default_manager.get_by_natural_key(username)
    except users.DoesNotExist as error:
        raise CommandError(f"No account is called {username!r}.") from error
    return Instructing(
        actor.name, user=user, owner_name=principal(user, None).name, locale=settings.LANGUAGE_CODE
    )


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
