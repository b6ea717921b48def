"""A model that has failed: what was shown of its reply is taken back, and people are told when it is asked again, and
once it answers (``runtime.model_retries`` says whether and when)."""

from __future__ import annotations

from envelopes.log.append import writing
from envelopes.models import Turn
from envelopes.models.turn import WRITTEN
from envelopes.protocol.rows import ProviderData
from envelopes.providers.transcript import resumable
from envelopes.registries.statuses import TurnStatus
from envelopes.turns.leases import Claim
from envelopes.turns.opening import turn_data
from envelopes.turns.spending import Unfinished, charge_unfinished
from envelopes.types import JsonObject


def withdraw(
    claim: Claim,
    turn: Turn,
    live: list[str],
    error: JsonObject,
    unfinished: Unfinished | None,
    *,
    retry: JsonObject | None = None,
) -> None:
    """Take back the streamed text of a reply that broke off, and keep why. ``turn`` is what the runner has of it;
    ``unfinished`` is what that reply took, ``retry`` says when its model is asked again, where it is."""
    with writing(claim.session_pk, fence=claim.fence) as writer:
        turn.live = {}
        turn.messages = resumable(turn.messages)
        ended: ProviderData = {"error": error}
        if unfinished is not None:
            ended |= charge_unfinished(turn, unfinished)
        writer.store(turn, WRITTEN)
        writer.add("provider", ended, turn=turn)
        if live:
            writer.add("withdrawn", {"live": live}, turn=turn)
        if retry is not None:
            data = turn_data(turn, TurnStatus.RUNNING, reason="model")
            data["retry"] = retry
            writer.add("turn", data, turn=turn)


def tell_tried_again(claim: Claim, turn: Turn, retry: JsonObject) -> None:
    """The model that was asked again, as ``withdraw`` has said with ``retry``, answers now."""
    data = turn_data(turn, TurnStatus.RUNNING, reason="model")
    data["retry"] = {key: retry[key] for key in ("number", "of", "mode")}
    with writing(claim.session_pk, fence=claim.fence) as writer:
        writer.add("turn", data, turn=turn)
