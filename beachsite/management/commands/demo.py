"""`manage.py demo`: the whole product on this machine, from nothing to a page that answers."""

from __future__ import annotations

import os
import shlex
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import ENVIRONMENT_VARIABLE, settings
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from a2ui.management.piping import PipedCommand
from beachsite import serving
from beachsite.demo import accounts
from beachsite.demo.sally import SALLY
from envelopes.conf import conf
from envelopes.registries.actors import default_actor
from envelopes.serving import daphne_server

PORT, SETTINGS = 8000, "beachsite.settings.local"
"""What `manage.py demo` takes where nothing else is said."""


class Command(PipedCommand):
    help = "Runs the travel agent Sally on this machine. Nothing to configure; a second run keeps its data."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--port", type=int, default=PORT, help=f"port on 127.0.0.1 ({PORT})")
        parser.add_argument("--data", metavar="DIR", help="folder for database and key (var in the checkout)")
        parser.add_argument("--no-input", action="store_false", dest="interactive", help="never ask anything")
        parser.add_argument(
            "--reset-passwords", action="store_true", help="make new passwords and print them"
        )
        parser.add_argument("--check", action="store_true", help="prepare everything, but do not serve")

    def handle(self, *args: Any, **options: Any) -> None:
        self._settings_fit(options["data"])
        port: int = options["port"]
        if not 0 < port < 65_536:
            raise CommandError("A port is a number from 1 to 65535.")
        if not options["check"] and not serving.port_is_free(port):
            raise CommandError(_taken(port))
        if options["interactive"]:
            self._confirm_database()
        self._migrate()
        made = accounts.ensure_accounts(reset=options["reset_passwords"], agent=default_actor().display_name)
        self._show_accounts(made)
        if options["check"]:
            self.stdout.write(f"Everything is ready. Start it with: {_start(port, options['data'])}")
            return
        # Connections of this thread would be shared with the server's, and with what forks later.
        connection.close()
        if not daphne_server.serve(daphne_server.tcp(port), lambda: self._show_addresses(port)):
            raise CommandError(_taken(port))

    def _settings_fit(self, data: str | None) -> None:
        """``manage.py`` hands ``--data`` to the settings before they are read; other callers must do the same."""
        if data and Path(data).expanduser().resolve() != settings.BEACH_DATA:
            raise CommandError(
                "--data works through manage.py; elsewhere set BEACH_DATA before settings are read."
            )

    def _confirm_database(self) -> None:
        """A shared database may hold other things than a demo."""
        if connection.vendor == "sqlite" or not sys.stdin.isatty():
            return
        name = connection.settings_dict["NAME"]
        answer = input(f"Use the {connection.vendor} database {name!r} and make demo accounts there? [y/N] ")
        if answer.strip().lower() not in {"y", "yes"}:
            raise CommandError("Nothing was changed. Unset DATABASE_URL for a database of the demo's own.")

    def _migrate(self) -> None:
        executor = MigrationExecutor(connection)
        # Asking is much quicker than migrating nothing, which still makes permissions and content types.
        if executor.migration_plan(executor.loader.graph.leaf_nodes()):
            self.stdout.write("Preparing the database ...")
            call_command("migrate", interactive=False, verbosity=0)

    def _show_accounts(self, made: list[accounts.Account]) -> None:
        new = [account for account in made if account.password]
        if not new:
            names = ", ".join(account.name for account in made)
            self.stdout.write(f"Accounts: {names} (--reset-passwords makes new passwords)")
            return
        self.stdout.write("Accounts (shown once; --reset-passwords makes new passwords):")
        for account in new:
            self.stdout.write(f"  {account.name:<6} {account.password}   {account.role}")

    def _show_addresses(self, port: int) -> None:
        self.stdout.write(f"Chat:    http://{daphne_server.HOST}:{port}/")
        self.stdout.write(f"Desk:    http://{daphne_server.HOST}:{port}/admin/")
        if settings.BEACH_GALLERY:
            self.stdout.write(f"Gallery: http://{daphne_server.HOST}:{port}/gallery/")
        self.stdout.write(who_answers())
        self.stdout.write("Stop with Ctrl-C.")
        self.stdout.flush()


def who_answers() -> str:
    """What stands behind new conversations."""
    actor = default_actor()
    if actor.name != SALLY.name:
        return f"{actor.display_name} answers: {actor.provider().label}."
    if conf.ANTHROPIC_API_KEY:
        return f"Sally runs on {conf.BEACH_MODEL}."
    if conf.BEACH_OPENAI_MODEL:
        return f"Sally runs on {conf.BEACH_OPENAI_MODEL}."
    return "Sally is a scripted model: nothing leaves this machine. ANTHROPIC_API_KEY puts her on Claude."


def _start(port: int, data: str | None) -> str:
    """The command that serves what was prepared: with these settings, this port and this folder."""
    words = ["python3", "manage.py", "demo"]
    if (module := os.environ.get(ENVIRONMENT_VARIABLE, SETTINGS)) != SETTINGS:
        words.insert(0, f"DJANGO_SETTINGS_MODULE={module}")
    if port != PORT:
        words += ["--port", str(port)]
    if data:
        words += ["--data", data]
    return shlex.join(words)


def _taken(port: int) -> str:
    other = serving.free_port_after(port)
    hint = f" Try: python3 manage.py demo --port {other}" if other else " Choose another with --port."
    return f"Port {port} is in use on {daphne_server.HOST}: perhaps the demo runs already.{hint}"
