"""A process that only runs turns, for ``BEACH_EXECUTOR=worker``: no sockets, no pages."""

from __future__ import annotations

import asyncio
import logging
import signal
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError, InterfaceError, connection
from prometheus_client import start_http_server

from envelopes.management.tables import require_tables
from envelopes.runtime.ending import end_in_time
from envelopes.runtime.process import Process
from envelopes.turns import leases

logger = logging.getLogger(__name__)


class Command(BaseCommand):
    """``manage.py run_worker``."""

    help = "Runs turns until it gets SIGTERM or SIGINT; then gives its leases back, so that others carry on at once."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--metrics-port",
            type=int,
            help="what this process counts is served there, on 127.0.0.1 alone, as `/metrics` of a web process",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Returns after a clean stop. A database without tables is refused; any other start that fails ends the process
        with a traceback, for a supervisor to see."""
        try:
            require_tables()
        except (DatabaseError, InterfaceError) as error:
            # It may come up later, and then there is work.
            logger.warning("The database does not answer yet: %r", error)
        # What runs from here on has connections of its own.
        connection.close()
        if port := options["metrics_port"]:
            try:
                start_http_server(port, addr="127.0.0.1")
            except OSError as error:
                raise CommandError(f"Metrics cannot be served on port {port}: {error.strerror}.") from error
        asyncio.run(self._work())

    async def _work(self) -> None:
        asked = asyncio.Event()

        def ask() -> None:
            # Whoever asks again is told nothing new: the bound holds from the first time.
            if not asked.is_set():
                logger.info("This process was asked to end.")
                asked.set()
                end_in_time()

        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, ask)
        # Not ensure_started(): a web process logs a failed start and serves on, a worker has nothing else to do.
        worker = Process(runs_turns=True)
        await worker.start()
        try:
            self.stdout.write(f"Worker {leases.process_name()} runs turns. Stop it with SIGTERM.")
            self.stdout.flush()
            await asked.wait()
        finally:
            await worker.stop()
        self.stdout.write("Stopped; its leases are free.")
