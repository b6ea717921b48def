"""A socket that is over is gone: a server whose pages come and go must not need the garbage collector for it."""

from __future__ import annotations

import gc
import weakref

import pytest

from envelopes.log.doorbell import doorbell
from envelopes.providers.scripted import Say, text
from tests.desk import replies
from tests.sockets import Socket, panel

pytestmark = pytest.mark.django_db(transaction=True)

ANSWER = replies([Say([text("response", "Hello to you.")])])


async def test_a_closed_socket_leaves_nothing_to_the_garbage_collector() -> None:
    async with panel(ANSWER) as (session, browser, _):
        socket = await Socket(browser, session.public_id).open()
        await socket.caught_up()
        (listener,) = doorbell._listeners[session.pk]
        follower = weakref.ref(listener.__self__)  # type: ignore[attr-defined]
        consumer = weakref.ref(listener.__self__._check.__self__)  # type: ignore[attr-defined]
        del listener
        gc.disable()
        try:
            await socket.close()
            # The communicator of the tests keeps what its application was called with.
            del socket
            assert consumer() is follower() is None
        finally:
            gc.enable()
