"""``python -m tests.bench.desk.in_database CONVERSATIONS``: fills the database of the environment and prints, as JSON,
what every page of the desk takes there. Run by ``tests.bench.desk``, on a scratch database."""

from __future__ import annotations

import json
import sys
import time

import django


def main(count: int) -> None:
    """Prints ``{"seconds": to fill, "pages": {name: what was measured}}``."""
    django.setup()
    from django.conf import settings
    from django.test import Client

    from tests import factories
    from tests.bench.desk import filling
    from tests.bench.desk.measuring import measure
    from tests.bench.desk.pages import addresses

    settings.ALLOWED_HOSTS = ["testserver"]
    began = time.monotonic()
    with factories.acting():
        filling.fill(count)
        seconds = time.monotonic() - began
        client = Client()
        client.force_login(factories.make_user("maria", superuser=True))
        pages = {name: measure(client, address).plain() for name, address in addresses().items()}
    sys.stdout.write(json.dumps({"seconds": round(seconds, 1), "pages": pages}))


if __name__ == "__main__":
    main(int(sys.argv[1]))
