"""What is stored: one module for each model, and all of them named here."""

from envelopes.models.agent_call import AgentCall
from envelopes.models.approval import Approval
from envelopes.models.approval_mail import ApprovalMail, ApprovalNotice
from envelopes.models.artifact import Artifact, ArtifactPiece
from envelopes.models.audit import AuditChain, AuditEntry
from envelopes.models.claim import Claim
from envelopes.models.client_message import ClientMessage
from envelopes.models.consent import Consent
from envelopes.models.decision import ApprovalVersion, Decider, Decision
from envelopes.models.document import Document
from envelopes.models.event import Event
from envelopes.models.frozen_view import FrozenView
from envelopes.models.injection import Injection
from envelopes.models.live_channel import LiveChannel, LiveToken
from envelopes.models.nonce import Nonce
from envelopes.models.note import Note
from envelopes.models.participant import Participant
from envelopes.models.peer import Peer
from envelopes.models.searched import ConversationFacts, ConversationWords, SearchCursor
from envelopes.models.secret import Secret
from envelopes.models.session import Session
from envelopes.models.snapshot import Snapshot
from envelopes.models.state_value import StateValue
from envelopes.models.stream_view import StreamDelivery, StreamView
from envelopes.models.template_surface import TemplateSurface
from envelopes.models.tool_call import ToolCall
from envelopes.models.turn import Turn
from envelopes.models.webhook import WebhookCursor, WebhookDelivery, WebhookSubscription

__all__ = [
    "AgentCall",
    "Approval",
    "ApprovalMail",
    "ApprovalNotice",
    "ApprovalVersion",
    "Artifact",
    "ArtifactPiece",
    "AuditChain",
    "AuditEntry",
    "Claim",
    "ClientMessage",
    "Consent",
    "ConversationFacts",
    "ConversationWords",
    "Decider",
    "Decision",
    "Document",
    "Event",
    "FrozenView",
    "Injection",
    "LiveChannel",
    "LiveToken",
    "Nonce",
    "Note",
    "Participant",
    "Peer",
    "SearchCursor",
    "Secret",
    "Session",
    "Snapshot",
    "StateValue",
    "StreamDelivery",
    "StreamView",
    "TemplateSurface",
    "ToolCall",
    "Turn",
    "WebhookCursor",
    "WebhookDelivery",
    "WebhookSubscription",
]
