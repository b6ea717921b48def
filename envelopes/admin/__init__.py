"""The admin: everything can be looked at, nothing of the past can be changed. Staff decide approvals here.

Django's autodiscovery imports this package; each module registers its model.
"""

from envelopes.admin import agent_call, approval, artifact, audit, peer, session, start, tool_call, turn

__all__ = ["agent_call", "approval", "artifact", "audit", "peer", "session", "start", "tool_call", "turn"]
