"""Asks a server whether it is alive, as what supervises one does: ``python -m tests.bench.serving.supervisor PORT``.

A process of its own: whoever opens a thousand sockets is late with everything else it asks. Says a line when it begins,
then asks ten times a second until it is told something, and prints what each answer took: seconds, a JSON list.
"""

from __future__ import annotations

import http.client
import json
import select
import sys
import time

SECONDS = 0.1
PATIENCE = 120.0


def answered(port: int) -> float:
    """Seconds until ``/healthz`` was answered, whatever the answer is."""
    began = time.monotonic()
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    connection.request("GET", "/healthz", headers={"Connection": "close"})
    connection.getresponse().read()
    connection.close()
    return time.monotonic() - began


def main(port: int) -> None:
    sys.stdout.write("begins\n")
    sys.stdout.flush()
    took = [answered(port)]
    while not select.select([sys.stdin], [], [], SECONDS)[0]:
        took.append(answered(port))
    sys.stdout.write(json.dumps(took))


if __name__ == "__main__":
    main(int(sys.argv[1]))
