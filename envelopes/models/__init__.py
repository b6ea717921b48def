"""What is stored. One module each."""

from envelopes.models.approval import Approval
from envelopes.models.artifact import Artifact
from envelopes.models.client_message import ClientMessage
from envelopes.models.event import Event
from envelopes.models.injection import Injection
from envelopes.models.participant import Participant
from envelopes.models.secret import Secret
from envelopes.models.session import Session
from envelopes.models.snapshot import Snapshot
from envelopes.models.tool_call import ToolCall
from envelopes.models.turn import Turn

__all__ = [
    "Approval",
    "Artifact",
    "ClientMessage",
    "Event",
    "Injection",
    "Participant",
    "Secret",
    "Session",
    "Snapshot",
    "ToolCall",
    "Turn",
]
