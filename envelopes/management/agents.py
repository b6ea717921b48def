"""``manage.py beach new-agent``: a Django application with an agent in it, and its tests."""

from __future__ import annotations

import argparse
import keyword
from collections.abc import Callable
from pathlib import Path
from typing import Any

from django.apps import apps
from django.core.management import call_command
from django.core.management.base import CommandError

from envelopes.errors import RegistrationError
from envelopes.registries.actors import actors
from envelopes.registries.base import check_name

COMMAND = "new-agent"
TEMPLATE = Path(__file__).parent / "agent"


def add_arguments(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """The subcommand."""
    new = commands.add_parser(COMMAND, help="writes an application with an agent, a tool and tests")
    # They would say that no application registers an agent.
    new.set_defaults(skip_checks=True)
    new.add_argument("name", help="of the application and of the agent: a Python name, such as shop")


def write(options: dict[str, Any], say: Callable[[str], object]) -> None:
    """Writes a folder of that name into the current one, by Django's own ``startapp``, and says what is left to do.
    Raises ``CommandError`` for what is no name, or taken."""
    name = options["name"]
    try:
        check_name("actor", name)
    except RegistrationError as error:
        raise CommandError(error.message) from error
    if keyword.iskeyword(name):
        raise CommandError(f"{name!r} is a word of Python's, so no module can be called that.")
    if (taken := actors.alike(name)) is not None:
        raise CommandError(f"An agent is called {taken!r} already ({actors.place(taken)}).")
    if (other := next((app for app in apps.get_app_configs() if app.label == name), None)) is not None:
        raise CommandError(f"An application is labelled {name!r} already ({other.name}).")
    call_command("startapp", name, template=str(TEMPLATE))
    say(f"{name}/beach.py has an agent, {name}/tests.py its tests.")
    say(f"Add {name!r} to INSTALLED_APPS (docs/agents.md shows where, in a checkout of Beach).")
    say(f"Then: manage.py test {name}")
