"""`manage.py serve`: the server of a deployment (docs/deploy.md)."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError

from a2ui.management.piping import PipedCommand
from envelopes.serving import daphne_server as serving


class Command(PipedCommand):
    help = (
        "Serves pages and sockets until SIGTERM or SIGINT. Settings that `check --deploy` calls errors are "
        "refused; the database is not asked."
    )
    # In `handle`, with those that are for deployments.
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default=serving.HOST, help=f"address to listen on ({serving.HOST})")
        parser.add_argument("--port", type=int, default=8000, help="port to listen on (8000)")
        parser.add_argument("--unix", metavar="PATH", help="listen on a Unix socket in place of a port")
        parser.add_argument(
            "--proxy-headers",
            action="store_true",
            help="the client's address is what X-Forwarded-For says; only behind a proxy that sets it",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if not (hasattr(settings, "ASGI_APPLICATION") and settings.ASGI_APPLICATION):
            raise CommandError(
                "Set ASGI_APPLICATION to the application of the project: 'mysite.asgi.application'."
            )
        host, port, unix = options["host"], options["port"], options["unix"]
        if not 0 < port < 65_536:
            raise CommandError("A port is a number from 1 to 65535.")
        self.check(include_deployment_checks=True)
        where = unix or (f"http://[{host.strip('[]')}]:{port}/" if ":" in host else f"http://{host}:{port}/")

        def listening() -> None:
            self.stdout.write(f"Serving on {where}")
            self.stdout.flush()

        endpoint = serving.unix(unix) if unix else serving.tcp(port, host)
        if not serving.serve(endpoint, listening, proxy_headers=options["proxy_headers"]):
            raise CommandError(f"It cannot listen on {where}; the log says why.")
