"""What the protocol itself registers, as an application does in a module of this name."""

from __future__ import annotations

from a2ui import BEACH_CATALOG, BEACH_CATALOG_1_0
from envelopes.approvals.surface import DEFAULT as APPROVAL_SURFACE
from envelopes.part_types.a2ui_surface import A2UI_SURFACE
from envelopes.part_types.ack import ACK
from envelopes.part_types.approval_request import APPROVAL_REQUEST
from envelopes.part_types.approval_response import APPROVAL_RESPONSE
from envelopes.part_types.artifact import ARTIFACT
from envelopes.part_types.citation import CITATION
from envelopes.part_types.clarify import CLARIFY
from envelopes.part_types.domain_data import DOMAIN_DATA
from envelopes.part_types.error import ERROR
from envelopes.part_types.llm_context import LLM_CONTEXT
from envelopes.part_types.progress import PROGRESS
from envelopes.part_types.reasoning_trace import REASONING_TRACE
from envelopes.part_types.response import RESPONSE
from envelopes.part_types.set_state import SET_STATE
from envelopes.part_types.staff_message import STAFF_MESSAGE
from envelopes.part_types.thinking import THINKING
from envelopes.registries import catalogs
from envelopes.registries.part_types import part_types
from envelopes.registries.surface_templates import surface_templates
from envelopes.registries.tools import runtime_tools
from envelopes.runtime import read_result

# Models read of them in this order.
part_types.register(ACK)
part_types.register(THINKING)
part_types.register(RESPONSE)
part_types.register(CLARIFY)
part_types.register(ERROR)
part_types.register(DOMAIN_DATA)
part_types.register(LLM_CONTEXT)
part_types.register(A2UI_SURFACE)
part_types.register(ARTIFACT)
part_types.register(REASONING_TRACE)
part_types.register(CITATION)
part_types.register(PROGRESS)
part_types.register(SET_STATE)
part_types.register(APPROVAL_REQUEST)
part_types.register(APPROVAL_RESPONSE)
part_types.register(STAFF_MESSAGE)

surface_templates.register(APPROVAL_SURFACE)

runtime_tools.register(read_result.TOOL)

catalogs.register(BEACH_CATALOG)
catalogs.register(BEACH_CATALOG_1_0)
