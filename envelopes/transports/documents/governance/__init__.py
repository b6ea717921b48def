"""Whether an experimental document is shown (seed 003, "Experimental Governance"): its stage, its flag, a person's
consent. Importing it registers the gate for what agents show, and the surface on which a person is asked."""

from envelopes.transports.documents.governance.consents import CONSENT
from envelopes.transports.documents.governance.holding import hold, is_document
from envelopes.turns.gates import Gate, gates

GATE = gates.register(Gate("documents", is_document, hold))

__all__ = ["CONSENT", "GATE"]
