"""A process that sends webhooks until it is killed, as a server does: ``... HOST``. Prints a line when it has begun."""

from __future__ import annotations

import asyncio
import os
import sys

import django


def main(host: str) -> None:
    os.environ["DJANGO_SETTINGS_MODULE"] = "beachsite.settings.test"
    django.setup()
    from django.test import override_settings

    from envelopes.transports.documents.webhooks.background import Webhooks

    async def send() -> None:
        here = Webhooks()
        await here.start()
        sys.stdout.write("Begun\n")
        sys.stdout.flush()
        await asyncio.Event().wait()

    with override_settings(BEACH_WEBHOOK_HOSTS=[host], BEACH_WEBHOOK_HTTP=True, BEACH_WEBHOOK_SECONDS=0.05):
        asyncio.run(send())


if __name__ == "__main__":
    main(*sys.argv[1:])
