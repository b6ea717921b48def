"""A tool of the planner that writes files: one piece by piece, and a picture."""

from __future__ import annotations

import io

from PIL import Image, ImageDraw
from pydantic import BaseModel

from envelopes.providers.scripted import Call, Conversation, Reply, Say, data, text
from envelopes.registries.tools import Tool, ToolContext
from envelopes.types import Json

ISLANDS = [{"name": "Corfu", "beds": 12, "price": 94}, {"name": "Paxos", "beds": 4, "price": 187}]
SOURCE = {"title": "Island guide", "url": "https://example.com/islands"}


class Nothing(BaseModel):
    pass


async def brochure(context: ToolContext, args: Nothing) -> Json:
    file = await context.write_artifact(b"name,beds\n", name="brochure.csv", mime_type="text/csv")
    for island in ISLANDS:
        line = f"{island['name']},{island['beds']}\n"
        await context.write_artifact(line.encode(), artifact_id=file, append=True)
    await context.write_artifact(b"", artifact_id=file, append=True, last_chunk=True)
    await context.attach("map.png", "image/png", _map(), alt="Two islands in the sea")
    return {"file": file}


def _map() -> bytes:
    picture = Image.new("RGB", (640, 360), "#9cc9d9")
    draw = ImageDraw.Draw(picture)
    draw.ellipse((120, 60, 330, 230), fill="#7d9b62")
    draw.ellipse((420, 230, 500, 290), fill="#7d9b62")
    made = io.BytesIO()
    picture.save(made, "PNG")
    return made.getvalue()


def script(conversation: Conversation) -> Reply:
    if not conversation.results("brochure"):
        return Reply([Say([text("ack", "Writing.", partId="a")], "awaiting"), Call("brochure", {})])
    cited = [("/islands/0/price", "94 a night"), ("/islands/1/price", "187 a night"), ("/islands/9", "")]
    return Reply(
        [
            Say(
                [
                    text("response", "Here is your brochure, ", partId="r"),
                    text("response", "with a map.", partId="r"),
                    data("domain-data", {"islands": ISLANDS, "season": "May"}, dataKind="islands"),
                    *(data("citation", {"path": path, "quote": quote, **SOURCE}) for path, quote in cited),
                ]
            )
        ]
    )


BROCHURE = Tool("brochure", "Writes a brochure.", Nothing, brochure, label="Writing the brochure")
