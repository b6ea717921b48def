"""What the parts of a turn may refer to: the results of its calls, and of those that it goes on with."""

from __future__ import annotations

from envelopes.models import ToolCall, Turn
from envelopes.protocol.references import Results
from envelopes.registries.statuses import CallStatus


def results_of(turn: Turn) -> Results:
    """The results that the model of ``turn`` has been given or will be, in their order; what it was handed first."""
    found = Results()
    for source in ("handoff", "delegation"):
        for entry in turn.trigger.get(source, {}).get("mailbox", ()):
            if "result" in entry:
                found.add(entry["tool"], entry["result"])
    calls = ToolCall.objects.filter(turn__in=turn.lineage()).order_by("pk")
    for call_id, name, state, result in calls.values_list("call_id", "name", "state", "result"):
        if state == CallStatus.SUCCEEDED:
            found.add(name, result, call_id)
        else:
            found.miss(name, call_id, state)
    return found
