"""The system check of contracts: one that is wrong would keep everybody out of its agent's conversations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.core import checks

from envelopes.errors import TooLarge
from envelopes.registries.actors import actors
from envelopes.transports.live.contracts import ContractRefused, contract_of


@checks.register()
def contracts(app_configs: Any, **kwargs: Any) -> Sequence[checks.CheckMessage]:
    """Every contract of an actor can be declared."""
    found: list[checks.CheckMessage] = []
    for actor in actors:
        if actor.contract is None:
            continue
        try:
            contract_of(dict(actor.contract))
        except (ContractRefused, TooLarge) as error:
            told = f"The contract of the actor {actor.name!r} ({actors.place(actor.name)}) is wrong."
            found.append(checks.Error(told, hint=error.message, id="envelopes.E008"))
    return found
