"""What a subscription sends as the log grows, in a task of its own, until it ends or whoever follows may no longer."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing
from functools import partial

from envelopes.database_threads import in_session
from envelopes.delivery import AWAY, Changed, Follower, Item, NotInLog, PlacedDelta
from envelopes.session_state import Frame, TooFarBack
from envelopes.tasks import end
from envelopes.transports.live import caps
from envelopes.transports.live.identity import still
from envelopes.transports.live.stored import SPECS, snapshot
from envelopes.transports.live.subscribing import Subscription
from envelopes.transports.live.tail import Rendered, Tail
from envelopes.transports.live.transport import LIVE
from envelopes.transports.live.wire import Gone, Wire
from envelopes.types import JsonObject

logger = logging.getLogger(__name__)

RECHECK_SECONDS = 30.0
"""How long whoever only listens is believed to be who they were."""

PUMP_SECONDS = 5.0
"""How long the pump may take to end; it may wait for the database."""


class Following:
    """Of one subscription."""

    def __init__(self, made: Subscription, told: JsonObject, wire: Wire) -> None:
        """``told``: the session that the ack has shown."""
        self._made, self._wire = made, wire
        self._tail = Tail(made)
        # The session, as a client has it by now.
        self._told = _named(told)
        self._follower = Follower(
            made.session,
            LIVE,
            made.reader,
            check=partial(check, made),
            at_once=self._tell,
            recheck_seconds=RECHECK_SECONDS,
        )
        self._pumping = asyncio.create_task(self._pump())

    async def check(self) -> None:
        """Raises ``Changed`` for whoever may no longer; whoever only watches sends nothing but pings."""
        await self._follower.check(unless_within=RECHECK_SECONDS)

    async def stop(self) -> None:
        """Nothing comes of it afterwards."""
        self._follower.close()
        if await end([self._pumping], seconds=PUMP_SECONDS):
            logger.warning("A live channel still waits for the database.")

    async def _pump(self) -> None:
        try:
            for text in self._tail.early():
                await self._wire.text(text)
            await self._speak(self._follower.begin(self._made.plan.after))
            while True:
                await self._follower.ready()
                await self._speak(self._follower.new())
        except Gone:
            return
        except Changed:
            await self._wire.end(caps.WHO_NOW)
        except (NotInLog, TooFarBack):
            await self._wire.end(caps.BEGIN_AGAIN)
        except Exception as error:
            if not isinstance(error, AWAY):
                logger.exception("Sending on the live channel failed.")
            # Whoever subscribes again goes on after the last delivery that they have.
            await self._wire.end(caps.LATER)

    async def _speak(self, items: AsyncGenerator[Item]) -> None:
        async with aclosing(items):
            async for item in items:
                for text in self._tail.told(item):
                    await self._wire.text(text)
                rendered, self._tail.rendered = self._tail.rendered, None
                if rendered is not None:
                    await self._render(rendered)

    def _tell(self, item: Frame | PlacedDelta) -> bool:
        if isinstance(item, PlacedDelta):
            text = self._tail.text_at_once(item)
            return text is not None and self._wire.at_once(text)
        # Numbers are counted as they are told: not before it is known that they are.
        made = self._tail.row_at_once(item)
        if made is None or not self._wire.at_once(*made):
            return False
        self._tail.passed(made)
        return True

    async def _render(self, rendered: Rendered) -> None:
        """The session as it is now, where its interface has changed as a whole. What the surfaces are came on their
        channels, so only their names are in it: to take them again would not be the same."""
        made, told = self._made, self._told
        surfaces = told["surfaces"] if rendered.surfaces is None else rendered.surfaces
        session = await in_session(made.session.pk, snapshot, made.session, made.key, rendered.row, surfaces)
        if any(session.get(name) != told.get(name) for name in ("surfaces", *SPECS)):
            self._told = session
            await self._wire.say("render", {"session": session})


def _named(session: JsonObject) -> JsonObject:
    """The session of an ack, without what its surfaces are."""
    surfaces = [{key: one[key] for key in one if key != "messages"} for one in session["surfaces"]]
    return {**session, "surfaces": surfaces}


async def check(made: Subscription) -> None:
    """Raises ``Changed`` unless whoever subscribed would be let in now."""
    await in_session(made.session.pk, still, made.identity, made.key, made.session.public_id)
