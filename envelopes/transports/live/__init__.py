"""The live channel: a conversation over one WebSocket, for programs and for front ends that are not ours (D68).

What an agent needs to declare a contract for a conversation is named here; nothing else of the folder is for others.
"""

from __future__ import annotations

from envelopes.transports.live.contracts import ContractRefused
from envelopes.transports.live.declaring import declare

__all__ = ["ContractRefused", "declare"]
