"""``manage.py beach registries``: what applications have registered, and where."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from django.core.management.base import BaseCommand

from envelopes.registries.actors import Actor
from envelopes.registries.catalogue import REGISTRIES
from envelopes.registries.doors import Door
from envelopes.registries.part_types import PartType
from envelopes.registries.transports import Transport
from envelopes.registries.turn_states import TurnState


class Command(BaseCommand):
    """``manage.py beach``."""

    help = "What this site knows of Beach."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """One word for what is asked."""
        commands = parser.add_subparsers(dest="command", required=True)
        commands.add_parser("registries", help="Prints what is registered, and where each of it was.")

    def handle(self, *args: Any, **options: Any) -> None:
        """A block a registry: name, what it is, and the module and line that registered it."""
        for number, registry in enumerate(REGISTRIES):
            rows = [(item.name, described(item), str(registry.place(item.name))) for item in registry]
            title = f"{registry.kind}: {len(rows)}"
            self.stdout.write(self.style.MIGRATE_HEADING(title if number == 0 else f"\n{title}"))
            widths = [max((len(row[column]) for row in rows), default=0) for column in range(2)]
            for name, words, place in rows:
                self.stdout.write(f"  {name:<{widths[0]}}  {words:<{widths[1]}}  {place}")


def described(item: object) -> str:
    """What of a definition decides how it behaves, in a few words."""
    match item:
        case PartType():
            return ", ".join([f"streaming {item.streaming}", f"buffered {item.buffered}", *_conditions(item)])
        case TurnState():
            marks = {
                "terminal": item.terminal,
                "emits an envelope": item.emits_envelope,
                "holds its actor": item.holds_actor,
                "not for models": not item.declarable,
            }
            return ", ".join(name for name, holds in marks.items() if holds)
        case Transport():
            return ", ".join([item.kind, *sorted(item.capabilities)])
        case Actor():
            return f"{item.display_name}, tools: {', '.join(tool.name for tool in item.tools) or 'none'}"
        case Door():
            return str(item.label)
        case _:
            raise TypeError(f"There are no words for a {type(item).__name__}.")


def _conditions(item: PartType) -> Iterator[str]:
    if item.allowed_transports is not None:
        yield f"only {' '.join(sorted(item.allowed_transports))}"
    if item.requires_peer_consumes:
        yield "only to who asks"
    if item.requires_surfaces:
        yield "only where interfaces are drawn"
