"""The bench's actor. It understands:

``hello``                           one text;
``card ITEMS [SURFACE]``            a text and a new surface;
``tick``                            a background job that waits for orders (`jobs`);
``stream SECONDS HZ [markdown]``    tokens (`streaming`);
``sdk SECONDS HZ``                  tokens of the API at ANTHROPIC_BASE_URL, by the SDK.
"""

from __future__ import annotations

from pydantic import BaseModel

from envelopes.providers.port import ModelRequest
from envelopes.providers.scripted import Call, Conversation, Reply, Say, text
from envelopes.registries.actors import Actor
from envelopes.registries.tools import Tool, ToolContext
from envelopes.types import Json
from tests.bench.serving.app.jobs import jobs
from tests.bench.serving.app.streaming import StreamingProvider
from tests.bench.serving.app.surfaces import LIVE, created, part, updated

WORDS = "Corfu in August is warm and busy; book early, take the ferry on a weekday and keep an evening for the town."


class Tick(BaseModel):
    """Nothing to say: orders come through the bench's door."""


async def tick(context: ToolContext, _args: Tick) -> Json:
    await jobs.work(context, lambda value: part([updated(value)]))
    return None


def script(request: ModelRequest) -> Reply:
    talk = Conversation(request)
    match talk.text.split():
        case ["tick"] if not talk.calls:
            return Reply([Call("tick")])
        case ["tick"]:
            return Reply([Say([text("response", WORDS)], "awaiting")])
        case ["card", items, *names]:
            surface = part(created(names[0] if names else LIVE, int(items)))
            return Reply([Say([text("response", WORDS), surface], "complete")])
        case _:
            return Reply([Say([text("response", WORDS)], "complete")])


def provider() -> StreamingProvider:
    return StreamingProvider(script, pace=0)


TICK = Tool(name="tick", description="Updates.", input=Tick, run=tick, label="Ticking", background=True)
BENCH = Actor("bench", "Bench", "bench", "You are a bench.", provider, tools=(TICK,))
