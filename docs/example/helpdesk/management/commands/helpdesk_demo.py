"""``manage.py helpdesk_demo ada``: two orders for an account, so that there is something to talk about."""

from __future__ import annotations

from typing import Any

from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand, CommandError, CommandParser

from helpdesk.models import Order

ORDERS = (
    ("Desk lamp, brass", "89.00", Order.Stage.SHIPPED),
    ("Paper shade, large", "24.50", Order.Stage.PACKED),
)


class Command(BaseCommand):
    help = "Gives an account two orders."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("username")
        parser.add_argument("--first", type=int, default=1042, help="the number of the first order")

    def handle(self, *args: Any, **options: Any) -> None:
        customer = get_user_model()._default_manager.filter(username=options["username"]).first()
        if customer is None:
            raise CommandError(f"There is no account {options['username']!r}.")
        for number, (item, euros, stage) in enumerate(ORDERS, options["first"]):
            Order.objects.get_or_create(
                number=f"L-{number}",
                defaults={"customer": customer, "item": item, "euros": euros, "stage": stage},
            )
