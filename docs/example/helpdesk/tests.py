"""A conversation for each thing that the agent does, on the script that stands in for a model."""

from __future__ import annotations

import json
from typing import Any

import httpx
from django.contrib.auth.models import Group, User
from django.test import SimpleTestCase, TransactionTestCase, override_settings

from envelopes import Instructing, ModelRequest, NotFound, ProviderError, ReplyEnded
from envelopes.testing import conversation
from helpdesk.beach import INES
from helpdesk.gateway import Gateway
from helpdesk.models import Order, Refund
from helpdesk.policy import REGULARS
from helpdesk.script import script

REFUND = "Refund 12.50 euros for order L-1042, the shade is broken"


@override_settings(HELPDESK_PACE=0)
class Conversations(TransactionTestCase):
    def setUp(self) -> None:
        self.ada = User.objects.create_user("ada")
        self.bo = User.objects.create_user("bo")
        Group.objects.create(name=REGULARS).user_set.add(self.bo)
        for number, customer in (("L-1042", self.ada), ("L-2001", self.bo)):
            Order.objects.create(
                number=number, customer=customer, item="Desk lamp", euros=89, stage="Shipped"
            )

    async def test_an_order_is_shown_on_a_card(self) -> None:
        async with conversation("ines", script, owner=self.ada) as talk:
            await talk.say("How far is order L-1042?")
            self.assertEqual(await talk.texts(), ["Here is your order."])
            self.assertIn('<li class="is-now" aria-current="step">Shipped</li>', await talk.page())

    async def test_orders_of_others_are_not_there(self) -> None:
        async with conversation("ines", script, owner=self.ada) as talk:
            await talk.say("How far is order L-2001?")
            self.assertEqual(await talk.texts(), ["There is no order L-2001 of this person."])

    async def test_the_button_of_the_card_asks_the_carrier_in_the_background(self) -> None:
        async with conversation("ines", script, owner=self.ada) as talk:
            await talk.say("How far is order L-1042?")
            await talk.press("where")
            self.assertEqual((await talk.parts("progress"))[-1]["data"]["status"], "done")
            (parcel,) = await talk.parts("helpdesk.parcel")
            self.assertEqual(parcel["data"]["carrier"], "Blue Van")
            self.assertInHTML("<b>Depot, Cologne</b>", await talk.page())

    async def test_a_customer_is_asked_before_money_moves(self) -> None:
        async with conversation("ines", script, owner=self.ada) as talk:
            await talk.say(REFUND)
            (asked,) = await talk.asked()
            self.assertEqual(asked.question, "Refund 12.50 euros for order L-1042?")
            self.assertFalse(await Refund.objects.aexists())
            with self.assertRaises(NotFound):
                await talk.decide("granted", by=self.bo)

            await talk.decide("granted", by=self.ada)
            self.assertEqual(await talk.texts(), ["12.50 euros are on their way to you."])
            self.assertEqual((await Refund.objects.aget()).euros, 12.5)

    async def test_a_regular_is_asked_from_the_second_refund_on(self) -> None:
        async with conversation("ines", script, owner=self.bo) as talk:
            await talk.say(REFUND.replace("L-1042", "L-2001"))
            self.assertEqual(await talk.asked(), [])
            self.assertEqual(await Refund.objects.acount(), 1)

            await talk.say(REFUND.replace("L-1042", "L-2001"))
            self.assertEqual(len(await talk.asked()), 1)
            await talk.decide("denied")
            self.assertEqual(await Refund.objects.acount(), 1)

    async def test_nobody_gets_more_back_than_they_paid(self) -> None:
        async with conversation("ines", script, owner=self.ada) as talk:
            await talk.say(REFUND.replace("12.50", "90"))
            await talk.decide("granted")
            self.assertEqual(await talk.texts(), ["L-1042 cost 89.00 euros, and 0 were paid back before."])

    async def test_a_closed_case_stays_closed(self) -> None:
        async with conversation("ines", script, owner=self.ada) as talk:
            await talk.say("Please hold my case")
            await talk.say("Thanks, that is all")
            await talk.say("Please hold my case")
            self.assertEqual(
                await talk.texts(),
                [
                    "Your case is on hold.",
                    "Glad to help. I have closed your case.",
                    "This case is closed, and stays so. Please begin a new conversation.",
                ],
            )

    def test_the_model_is_told_whom_it_talks_to(self) -> None:
        told = INES.instructions_for(Instructing("ines", user=self.ada, owner_name="Ada", locale="en-GB"))
        self.assertIn("You talk to Ada. Their orders: L-1042. Their language: en-GB.", told)
        self.assertIn("You talk to a guest.", INES.instructions_for(Instructing("ines")))


class Gateways(SimpleTestCase):
    async def test_a_whole_reply_becomes_a_stream(self) -> None:
        call = {"type": "tool_use", "id": "t1", "name": "find_order", "input": {"number": "L-1042"}}
        events = await self._asked(httpx.Response(200, json={"content": [call], "stop_reason": "tool_use"}))
        self.assertEqual(json.loads(events[-2].raw_input), {"number": "L-1042"})
        self.assertEqual(events[-1], ReplyEnded("tool_use"))

    async def test_what_may_pass_is_asked_again(self) -> None:
        for status, again in ((503, True), (401, False)):
            with self.assertRaises(ProviderError) as failed:
                await self._asked(httpx.Response(status))
            self.assertIs(failed.exception.retryable, again)

    async def test_an_answer_that_is_no_reply_is_asked_for_again(self) -> None:
        for body in ("<html>", "[1]"):
            with self.assertRaises(ProviderError) as failed:
                await self._asked(httpx.Response(200, text=body))
            self.assertTrue(failed.exception.retryable)

    async def _asked(self, answer: httpx.Response) -> list[Any]:
        gateway = Gateway(
            "https://models.lumen.example/v1", "house-1", httpx.MockTransport(lambda request: answer)
        )
        return [event async for event in gateway.stream(ModelRequest("Help.", [], []))]
