"""A process that emits for a job and ends itself with SIGKILL between commit and frame: ``... CALL WORDS``."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from typing import Any

import django


def main(call_pk: str, words: str) -> None:
    os.environ["DJANGO_SETTINGS_MODULE"] = "beachsite.settings.test"
    django.setup()
    from envelopes.log.append import JobFence
    from envelopes.models import ToolCall
    from envelopes.runtime.executing import context_of
    from envelopes.session_state import LiveSession
    from tests.writers import update

    def landed(*_: Any) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    LiveSession.landed = landed  # type: ignore[method-assign]
    call = ToolCall.objects.get(pk=call_pk)
    context = context_of(call, JobFence(call.pk, 1))
    asyncio.run(context.emit(update(words)))


if __name__ == "__main__":
    main(*sys.argv[1:])
