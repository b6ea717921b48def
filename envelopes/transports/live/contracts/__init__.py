"""Contracts of the live channel: what actions and deliveries look like, declared by the agent and checked here. Pure:
no Django, no socket, no clock.

A contract is ``{propsSpec?, actionSpec?, streamSpec?, contextSpec?, agentCapabilities?}``; ``contract_of`` gives the
checked and compiled one, ``Contract.action`` and ``Contract.delivery_violations`` hold values against it.
"""

from envelopes.transports.live.contracts.contract import (
    KEPT_CONTRACTS,
    MAX_CONTRACT_BYTES,
    Action,
    Channel,
    Contract,
    contract_of,
    undeclared_action,
)
from envelopes.transports.live.contracts.entries import ReplayPolicy, StreamMode
from envelopes.transports.live.contracts.merging import merged
from envelopes.transports.live.contracts.receiver import Folded, Receiver
from envelopes.transports.live.contracts.replay import RING, Replay, StreamBuffer, cursor, policy_of
from envelopes.transports.live.contracts.reserved import (
    KNOWN,
    LIFECYCLE,
    MAX_NAME,
    NAME,
    PREFIX,
    PREVIEW,
    RUNTIME,
    is_known,
    is_reserved,
    lifecycle_violations,
    name_fault,
)
from envelopes.transports.live.contracts.violations import (
    CONTRACT_VIOLATION_NUMBER,
    MOST_VIOLATIONS,
    ContractRefused,
    ContractViolation,
    Violation,
    cut,
)

__all__ = [
    "CONTRACT_VIOLATION_NUMBER",
    "KEPT_CONTRACTS",
    "KNOWN",
    "LIFECYCLE",
    "MAX_CONTRACT_BYTES",
    "MAX_NAME",
    "MOST_VIOLATIONS",
    "NAME",
    "PREFIX",
    "PREVIEW",
    "RING",
    "RUNTIME",
    "Action",
    "Channel",
    "Contract",
    "ContractRefused",
    "ContractViolation",
    "Folded",
    "Receiver",
    "Replay",
    "ReplayPolicy",
    "StreamBuffer",
    "StreamMode",
    "Violation",
    "contract_of",
    "cursor",
    "cut",
    "is_known",
    "is_reserved",
    "lifecycle_violations",
    "merged",
    "name_fault",
    "policy_of",
    "undeclared_action",
]
