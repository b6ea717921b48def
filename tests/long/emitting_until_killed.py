"""A process that emits words for a job, one after the other, and dies when it was told to: ``... FOLDER CALL WORDS``.

``FOLDER`` has the order to die (``tests.faults.lab.dying``). Prints each word once it is told that it is stored.
"""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import django


def main(folder: str, call_pk: str, *words: str) -> None:
    os.environ["DJANGO_SETTINGS_MODULE"] = "beachsite.settings.test"
    django.setup()
    from envelopes.log.append import JobFence
    from envelopes.models import ToolCall
    from envelopes.runtime.executing import context_of
    from tests.faults.lab import dying
    from tests.writers import update

    dying.install(dying.Dying(Path(folder)))
    call = ToolCall.objects.get(pk=call_pk)
    context = context_of(call, JobFence(call.pk, 1))

    async def emit() -> None:
        for word in words:
            await context.emit(update(word))
            sys.stdout.write(f"{word}\n")
            sys.stdout.flush()

    asyncio.run(emit())


if __name__ == "__main__":
    main(*sys.argv[1:])
