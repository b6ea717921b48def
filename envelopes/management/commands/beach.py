"""``manage.py beach``: what applications have registered, what models are told, programs that may talk to agents here,
files, and the configuration as a file."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from a2ui.management.piping import PipedCommand
from envelopes import artifacts, peers, search
from envelopes.errors import BeachError
from envelopes.management import agents, configuring, costing, prompting, recording, settings_table
from envelopes.management.describing import described
from envelopes.management.tables import require_tables
from envelopes.models import Peer
from envelopes.protocol.agent_cards import extension_of, read_agent_card
from envelopes.registries.catalogue import REGISTRIES
from envelopes.registries.scopes import SCOPES, offered
from envelopes.registries.transports import Command as TransportCommand
from envelopes.registries.transports import transports

WITHOUT_TABLES = {
    agents.COMMAND: agents.write,
    settings_table.COMMAND: settings_table.write,
    "prompt": prompting.run,
}
"""What needs no database."""


class Command(PipedCommand):
    """``manage.py beach {registries,settings,prompt,new-agent,card,peer,artifacts,config,index-sessions}``."""

    help = "Shows what is registered, manages the programs that may talk to agents here, and tidies up files."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """One subcommand each."""
        commands = parser.add_subparsers(dest="command", required=True)
        commands.add_parser("registries", help="prints what is registered, and where each of it was")
        prompting.add_arguments(
            commands.add_parser("prompt", help="prints what the model of an agent is told, with sizes")
        )
        files = commands.add_parser(
            "artifacts", help="compares the storage of files with what refers to them"
        )
        files.add_argument(
            "--delete",
            action="store_true",
            help="removes files that are an hour old and that nothing refers to",
        )
        card = commands.add_parser(
            "card", help="checks the Agent Card of another agent, and prints what it says of Beach"
        )
        card.add_argument("file", type=argparse.FileType("rb"), help="a JSON file; - for standard input")
        configuring.add_arguments(
            commands.add_parser("config", help="takes what this site is set up with to another one")
        )
        peer = commands.add_parser("peer", help="programs with a token of their own")
        verbs = peer.add_subparsers(dest="verb", required=True)
        add = verbs.add_parser("add", help="lets a program in, and prints its token: this once")
        add.add_argument("name")
        scopes = "; ".join(map(offered, SCOPES))
        add.add_argument("--scopes", required=True, help=f"separated by commas. {scopes}")
        add.add_argument("--rate", type=int, default=120, help="requests a minute (default: %(default)s)")
        add.add_argument("--card", type=Path, help="its Agent Card, a JSON file")
        verbs.add_parser("list", help="prints all of them")
        for verb, text in (
            ("renew", "gives it a new token in place of the old one, and prints it: this once"),
            ("block", "lets it in no more"),
            ("unblock", "lets it in again, with the token that it had"),
        ):
            verbs.add_parser(verb, help=text).add_argument("name")

        costing.add_arguments(commands)
        recording.add_arguments(commands)
        agents.add_arguments(commands)
        commands.add_parser(settings_table.COMMAND, help="prints all settings, with their defaults")
        index = commands.add_parser(
            "index-sessions", help="takes in what is new for the search of conversations"
        )
        index.add_argument("--all", action="store_true", help="reads every conversation anew")

        for command in _commands().values():
            command.add_arguments(commands.add_parser(command.name, help=command.help))

    def handle(self, *args: Any, **options: Any) -> None:
        """Runs the subcommand."""
        if (command := _commands().get(options["command"])) is not None:
            require_tables()
            try:
                for line in command.handle(options):
                    self.stdout.write(line)
            except BeachError as error:
                raise CommandError(error.message) from error
            return
        if options["command"] == "registries":
            self._registries()
            return
        if (write := WITHOUT_TABLES.get(options["command"])) is not None:
            write(options, self.stdout.write)
            return
        if options["command"] in ("artifacts", "peer", "config", "index-sessions", "costs"):
            require_tables()
        if options["command"] in recording.COMMANDS:
            require_tables()
            recording.run(options, self.stdout.write)
            return
        if options["command"] == "index-sessions":
            self._index(anew=options["all"])
            return
        if options["command"] == "config":
            configuring.run(options, self.stdout.write)
            return
        if options["command"] == "artifacts":
            self._artifacts(delete=options["delete"])
            return
        try:
            getattr(self, f"_{options.get('verb') or options['command']}")(options)
        except BeachError as error:
            raise CommandError(error.message) from error

    def _registries(self) -> None:
        """A block a registry: name, what it is, and the module and line that registered it."""
        for number, registry in enumerate(REGISTRIES):
            title = f"{registry.kind}: {len(registry.names())}"
            self.stdout.write(self.style.MIGRATE_HEADING(title if number == 0 else f"\n{title}"))
            self._table([(item.name, described(item), str(registry.place(item.name))) for item in registry])

    def _costs(self, options: dict[str, Any]) -> None:
        self._table(list(costing.rows(options["by"], options["days"])))

    def _artifacts(self, *, delete: bool) -> None:
        found = artifacts.sweep(delete=delete)
        self.stdout.write(f"Files that nothing refers to: {found.orphans}; removed: {found.removed}.")
        if found.lost:
            raise CommandError(f"The bytes of these are gone: {', '.join(found.lost)}.")

    def _index(self, *, anew: bool) -> None:
        count = sum(search.index_all(anew=anew))
        self.stdout.write(f"Conversations that were read: {count}.")

    def _table(self, rows: Sequence[tuple[str, ...]]) -> None:
        widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
        for row in rows:
            cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
            self.stdout.write(f"  {'  '.join(cells).rstrip()}")

    def _card(self, options: dict[str, Any]) -> None:
        """Name, addresses and the Beach extension of a card that is in order."""
        with options["file"] as file:
            document = _json(file.read(), file.name)
        card = read_agent_card(document)
        self._table(
            [("name", card.name)]
            + [("interface", f"{door.url} ({door.protocol_binding})") for door in card.supported_interfaces]
        )
        extension = extension_of(document)
        told = extension.model_dump(exclude_defaults=True) if extension is not None else {}
        self._table([(key, _spaced(value)) for key, value in told.items()])

    # -- peers --------------------------------------------------------------------------------------------------

    def _add(self, options: dict[str, Any]) -> None:
        try:
            card = _json(options["card"].read_bytes(), options["card"]) if options["card"] else None
        except OSError as error:
            raise CommandError(f"{options['card']} cannot be read: {error}") from error
        scopes = [word.strip() for word in options["scopes"].split(",") if word.strip()]
        _, token = peers.add(options["name"], scopes, rate=options["rate"], card=card)
        self.stdout.write(token)

    def _list(self, options: dict[str, Any]) -> None:
        rows = [
            (
                peer.name,
                f"...{peer.token_end}",
                ",".join(peer.scopes),
                f"{peer.rate} a minute",
                "" if peer.is_active else "blocked",
            )
            for peer in Peer.objects.all()
        ]
        self._table(rows)

    def _renew(self, options: dict[str, Any]) -> None:
        self.stdout.write(peers.renew(_named(options["name"])))

    def _block(self, options: dict[str, Any]) -> None:
        _set_active(options["name"], active=False)

    def _unblock(self, options: dict[str, Any]) -> None:
        _set_active(options["name"], active=True)


def _commands() -> dict[str, TransportCommand]:
    """Those that transports bring, by name."""
    return {command.name: command for transport in transports for command in transport.commands()}


def _spaced(value: object) -> str:
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)


def _json(text: bytes, name: object) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise CommandError(f"{name} is no JSON file: {error}") from error


def _named(name: str) -> Peer:
    found = Peer.objects.filter(name=name).first()
    if found is None:
        known = ", ".join(Peer.objects.values_list("name", flat=True)) or "none"
        raise CommandError(f"There is no peer {name!r}. Known: {known}.")
    return found


def _set_active(name: str, *, active: bool) -> None:
    peer = _named(name)
    peer.is_active = active
    peer.save(update_fields=["is_active"])
