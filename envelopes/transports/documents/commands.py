"""``manage.py beach webhook``: who is told of what happens, by webhooks."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from typing import Any

from envelopes.errors import NotFound
from envelopes.models import Peer, WebhookSubscription
from envelopes.transports.documents.webhooks import subscribing
from envelopes.transports.documents.webhooks.events import EVENTS

Lines = Iterable[str]


class WebhookCommand:
    """What an application's administrator does with webhooks."""

    name = "webhook"
    help = "services that are told of events"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """One verb each."""
        verbs = parser.add_subparsers(dest="webhook_verb", required=True)
        add = verbs.add_parser("add", help="tells a service from now on, and prints its secret: this once")
        add.add_argument("name")
        add.add_argument("url", help="of a host in BEACH_WEBHOOK_HOSTS")
        told = "; ".join(f"{name}: {what}" for name, what in EVENTS.items())
        add.add_argument("--events", default="", help=f"separated by commas; all without. {told}")
        add.add_argument("--peer", default="", help="of conversations of this peer alone")
        verbs.add_parser("list", help="prints all of them, and how they get through")
        for verb, text in (
            ("renew", "gives it a new secret in place of the old one, and prints it: this once"),
            ("block", "tells it nothing more"),
            ("unblock", "tells it again, from now on"),
            ("retry", "tries again what has been given up"),
        ):
            verbs.add_parser(verb, help=text).add_argument("name")

    def handle(self, options: dict[str, Any]) -> Lines:
        """What to print. Raises ``BeachError``."""
        verb: Callable[[dict[str, Any]], Lines] = getattr(self, f"_{options['webhook_verb']}")
        return verb(options)

    def _add(self, options: dict[str, Any]) -> Lines:
        events = [word.strip() for word in options["events"].split(",") if word.strip()]
        peer = Peer.objects.filter(name=options["peer"]).first()
        if options["peer"] and peer is None:
            raise NotFound(f"There is no peer {options['peer']!r}.")
        _, secret = subscribing.add(options["name"], options["url"], events, peer=peer)
        return [secret]

    def _list(self, options: dict[str, Any]) -> Lines:
        for one in WebhookSubscription.objects.all():
            counts = {state: one.deliveries.filter(state=state).count() for state in ("pending", "dead")}
            state = "" if one.is_active else "blocked"
            told = ",".join(one.events) or "all"
            waits = f"{counts['pending']} waiting, {counts['dead']} given up"
            yield f"{one.name}  {one.url}  {told}  {waits}  {state}".rstrip()

    def _renew(self, options: dict[str, Any]) -> Lines:
        found = subscribing.named(options["name"])
        secret = subscribing.new_secret(found)
        found.save(update_fields=["secret"])
        return [secret]

    def _block(self, options: dict[str, Any]) -> Lines:
        subscribing.set_active(subscribing.named(options["name"]), active=False)
        return []

    def _unblock(self, options: dict[str, Any]) -> Lines:
        subscribing.set_active(subscribing.named(options["name"]), active=True)
        return []

    def _retry(self, options: dict[str, Any]) -> Lines:
        return [f"{subscribing.retry(subscribing.named(options['name']))} will be tried again."]
