"""How long it takes to follow a large respond() call as it is written: ``python -m tests.bench.respond_stream``."""

from __future__ import annotations

import json
import os
import sys
from time import perf_counter

import django

WORDS = 'word "quoted" \u00e9 \n' * 4000
COMPONENTS = [
    {"id": f"c{number}", "component": "Text", "text": {"path": "/x"}, "weights": [1, 2.5, None, True]}
    for number in range(1800)
]


def main() -> None:
    """One line a case: size of the call, size of a fragment, time to follow it, time for the strict parse."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "beachsite.settings.test")
    django.setup()
    from envelopes.runtime.respond_stream import RespondStream

    call = {
        "parts": [
            {"metadata": {"partType": "response"}, "text": WORDS},
            {"metadata": {"partType": "a2ui-surface"}, "data": {"components": COMPONENTS}},
        ],
        "turnState": "complete",
    }
    for ascii_only in (False, True):
        raw = json.dumps(call, ensure_ascii=ascii_only)
        for size in (1, 4, 12):
            stream = RespondStream()
            began = perf_counter()
            growths = sum(len(stream.feed(raw[at : at + size])) for at in range(0, len(raw), size))
            followed = perf_counter()
            stream.close(raw)
            parsed = perf_counter()
            sys.stdout.write(
                f"{len(raw):>7} characters by {size:>2}: {1000 * (followed - began):6.0f} ms, {growths} growths; "
                f"parse {1000 * (parsed - followed):.0f} ms\n"
            )


if __name__ == "__main__":
    main()
