"""An agent that asks for an approval, and shows whatever it is sent: for tricks that shall not decide it."""

from __future__ import annotations

import json

from pydantic import BaseModel

from envelopes.providers.scripted import Call, Conversation, Reply, Say, data, text
from envelopes.registries.tools import ApprovalPolicy, Tool, ToolContext
from envelopes.types import Json

SHOW = "show "


class Payment(BaseModel):
    to: str


async def pay(context: ToolContext, args: Payment) -> Json:
    return {"paid": args.to}


PAY = Tool(
    "pay",
    "Pays.",
    Payment,
    pay,
    approval=ApprovalPolicy(question=lambda args: f"Pay {args.to}?", risk="high"),
)


def script(conversation: Conversation) -> Reply:
    """``show [[messages of a surface], ...]`` shows these; anything else asks whether to pay."""
    if conversation.action is not None:
        return Reply([Say([text("response", "Noted.")])])
    if conversation.text.startswith(SHOW):
        surfaces = json.loads(conversation.text.removeprefix(SHOW))
        return Reply([Say([data("a2ui-surface", {"messages": messages}) for messages in surfaces])])
    paid = conversation.result("pay")
    if paid is None:
        return Reply([Call("pay", {"to": "Ada"})])
    return Reply([Say([text("response", "Nothing was paid." if paid.is_error else "It is paid.")])])
