"""Functions across the wire (section 9 of the reading of 1.0): none so far."""

from __future__ import annotations

from a2ui.errors import A2uiError
from a2ui.protocol.messages import AgentFunctionResponse, CallRendererFunction

INVALID_FUNCTION_CALL = "INVALID_FUNCTION_CALL"


def not_called(message: CallRendererFunction | AgentFunctionResponse) -> A2uiError:
    """The refusal: no function of any catalog may be called by an agent, and none of an agent is called."""
    if isinstance(message, CallRendererFunction):
        said = "No function of this renderer may be called by an agent."
    else:
        said = "Nobody waits for the answer to this call."
    return A2uiError(said, code=INVALID_FUNCTION_CALL, fault="agent", functionCallId=message.call_id[:200])
