"""The tools: look an order up, ask the carrier, pay money back. Each knows whose conversation it is."""

from __future__ import annotations

import asyncio
from decimal import Decimal
from typing import Annotated

from django.conf import settings
from django.db import transaction
from django.db.models import Sum
from pydantic import BaseModel, Field

from envelopes import JsonObject, NotFound, Shown, Tool, ToolContext, ToolFailed
from envelopes.providers.scripted import data
from helpdesk.models import Order, Refund
from helpdesk.policy import REFUNDS


class OrderNumber(BaseModel):
    number: str = Field(
        title="Order", description="The number of the order, such as L-1042.", pattern=r"^L-\d{4}$"
    )


class RefundOrder(OrderNumber):
    euros: Annotated[
        Decimal,
        Field(title="Amount", gt=0, max_digits=8, decimal_places=2, description="What to pay back."),
        Shown(currency="EUR", sum=True),
    ]
    reason: str = Field(title="Reason", min_length=3, max_length=200)


def order_of(context: ToolContext, number: str, *, lock: bool = False) -> Order:
    """Nobody is told of the orders of others, so theirs are not there."""
    orders = Order.objects.select_for_update() if lock else Order.objects.all()
    order = orders.filter(customer=context.user, number=number).first() if context.user is not None else None
    if order is None:
        raise NotFound(f"There is no order {number} of this person.")
    return order


def find_order(context: ToolContext, args: OrderNumber) -> JsonObject:
    """A plain function has a thread of its own, in which the ORM works as in a view."""
    order = order_of(context, args.number)
    refunded = order.refunds.aggregate(Sum("euros"))["euros__sum"] or 0
    return {
        "number": order.number,
        "item": order.item,
        "euros": float(order.euros),
        "stage": order.stage,
        "refunded": float(refunded),
    }


STOPS = [
    {"place": "Warehouse, Porto", "time": "Monday 18:10", "note": "Handed to the carrier"},
    {"place": "Depot, Lyon", "time": "Tuesday 22:45", "note": "Sorted"},
    {"place": "Depot, Cologne", "time": "Wednesday 06:30", "note": "On the van"},
]


async def ask_carrier(context: ToolContext, args: OrderNumber) -> JsonObject:
    """It takes a while, so it runs in the background and shows how far it is. Here the carrier would be asked."""
    for done in range(len(STOPS) + 1):
        status = "done" if done == len(STOPS) else "running"
        step = {"id": args.number, "label": "Asking the carrier", "current": done, "total": len(STOPS)}
        await context.emit(data("progress", {**step, "status": status}))
        await asyncio.sleep(getattr(settings, "HELPDESK_PACE", 0.8))
    return {"order": args.number, "carrier": "Blue Van", "stops": STOPS}


def refund(context: ToolContext, args: RefundOrder) -> JsonObject:
    """It has been approved. It runs once; should this process die in it, nobody repeats it, and staff are asked."""
    with transaction.atomic():
        # Locked: of two refunds at once the second has to see the first.
        order = order_of(context, args.number, lock=True)
        paid = order.refunds.aggregate(Sum("euros"))["euros__sum"] or Decimal(0)
        if paid + args.euros > order.euros:
            raise ToolFailed(f"{order.number} cost {order.euros} euros, and {paid} were paid back before.")
        Refund.objects.create(
            order=order, euros=args.euros, call=context.call_id, conversation=context.session_id
        )
    return {"order": order.number, "refunded": float(args.euros)}


FIND_ORDER = Tool(
    name="find_order",
    description="Looks an order of this person up: what it is, what it cost, how far it is.",
    input=OrderNumber,
    run=find_order,
    label="Looking the order up",
    data_kind="helpdesk.order",
)
ASK_CARRIER = Tool(
    name="ask_carrier",
    description="Asks the carrier where the parcel of an order is. Takes a few seconds, in the background.",
    input=OrderNumber,
    run=ask_carrier,
    label="Asking the carrier",
    background=True,
)
REFUND = Tool(
    name="refund",
    description="Pays money back for an order. Somebody may have to approve it.",
    input=RefundOrder,
    run=refund,
    label="Refunding",
    idempotent=False,
    approval=REFUNDS,
)
