"""A process that only runs turns, for ``BEACH_EXECUTOR=worker``: no sockets, no pages."""

from __future__ import annotations

import asyncio
import logging
import signal
from argparse import ArgumentParser
from contextlib import ExitStack
from typing import Any

from django.core.management.base import CommandError
from django.db import DatabaseError, InterfaceError, connection

from a2ui.management.piping import PipedCommand
from envelopes.conf import conf
from envelopes.errors import ValidationFailed
from envelopes.management.tables import require_tables
from envelopes.runtime.ending import end_in_time
from envelopes.runtime.process import Process
from envelopes.serving.worker_metrics import WorkerMetrics
from envelopes.turns import leases

logger = logging.getLogger(__name__)


class Command(PipedCommand):
    """``manage.py run_worker``."""

    help = "Runs turns until it gets SIGTERM or SIGINT; then gives its leases back, so that others carry on at once."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--metrics",
            metavar="HOST:PORT",
            default=None,
            help="where this worker tells Prometheus what it counts (default: BEACH_WORKER_METRICS)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Returns after a clean stop. A database without tables is refused, and metrics that cannot be served; any
        other start that fails ends the process with a traceback, for a supervisor to see."""
        try:
            require_tables()
        except (DatabaseError, InterfaceError) as error:
            # It may come up later, and then there is work.
            logger.warning("The database does not answer yet: %r", error)
        # What runs from here on has connections of its own.
        connection.close()
        with ExitStack() as stack:
            address = conf.BEACH_WORKER_METRICS if options["metrics"] is None else options["metrics"]
            if address:
                self._tell_metrics(address, stack)
            asyncio.run(self._work())

    def _tell_metrics(self, address: str, stack: ExitStack) -> None:
        try:
            metrics = WorkerMetrics(address)
        except ValidationFailed as error:
            raise CommandError(error.message) from error
        stack.callback(metrics.stop)
        metrics.start()
        self.stdout.write(f"Metrics of this worker are at port {metrics.port}.")

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
