"""The Agent Card of this site: what its agents can do, and by which doors programs reach them (envelope document,
"Agent Card"; A2A 1.0, section 8.2)."""

from __future__ import annotations

import hashlib
import json

from a2a.types.a2a_pb2 import AgentCard
from django.http import HttpRequest, HttpResponse
from django.utils.cache import get_conditional_response
from django.utils.http import quote_etag
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers
from google.protobuf.json_format import MessageToDict, ParseDict

from envelopes.conf import conf
from envelopes.delivery.rules import audience
from envelopes.protocol.agent_cards import EXTENSION, RESPOND_VERSION, BeachExtension
from envelopes.registries.actors import Actor, actors
from envelopes.registries.part_types import part_types
from envelopes.registries.transports import Transport, transports
from envelopes.registries.turn_states import turn_states
from envelopes.session_state.engines import engine_for
from envelopes.transports import prefixes
from envelopes.transports.api import VERSION
from envelopes.types import JsonObject

A2UI_EXTENSION = "https://a2ui.org/a2a-extension/a2ui/v1.0"

SECONDS = 300
"""For how long whoever has read the card need not ask again."""

_MEDIA = ["application/json", "text/plain"]


def build_agent_card(url: str, api_url: str, openapi_url: str) -> AgentCard:
    """The card of a site that is at ``url``, whose JSON doors are below ``api_url`` and described at ``openapi_url``.

    It lists the transports that programs can use; each actor is a skill.
    """
    doors = [transport for transport in transports if transport.api is not None]
    card: JsonObject = {
        "name": conf.BEACH_AGENT_NAME,
        "description": conf.BEACH_AGENT_DESCRIPTION or _in_a_sentence(),
        "version": conf.BEACH_AGENT_VERSION,
        "documentationUrl": openapi_url,
        "supportedInterfaces": [
            {
                "url": _address(door, url, api_url),
                "protocolBinding": f"{EXTENSION}/{door.name}",
                "protocolVersion": VERSION,
            }
            for door in doors
        ],
        "capabilities": {
            "streaming": any(door.kind == "streaming" for door in doors),
            "extensions": [_beach(), _a2ui()],
        },
        "securitySchemes": {"peer": {"httpAuthSecurityScheme": {"scheme": "Bearer"}}},
        "securityRequirements": [{"schemes": {"peer": {}}}],
        "defaultInputModes": _MEDIA,
        "defaultOutputModes": _MEDIA,
        "skills": [_skill(actor) for actor in actors],
    }
    if conf.BEACH_AGENT_ORGANIZATION:
        card["provider"] = {"organization": conf.BEACH_AGENT_ORGANIZATION, "url": url}
    made = AgentCard()
    ParseDict(card, made)
    return made


@require_safe
@vary_on_headers("Host")
def agent_card(request: HttpRequest) -> HttpResponse:
    """``/.well-known/agent-card.json``: for anybody; 304 to whoever has it as it is."""
    card = build_agent_card(
        request.build_absolute_uri(prefixes.address()),
        request.build_absolute_uri(prefixes.address("api/")),
        request.build_absolute_uri(prefixes.address("api/openapi.json")),
    )
    body = json.dumps(MessageToDict(card), ensure_ascii=False, sort_keys=True).encode()
    etag = quote_etag(hashlib.sha256(body).hexdigest()[:32])
    headers = {"ETag": etag, "Cache-Control": f"public, max-age={SECONDS}"}
    response = HttpResponse(body, content_type="application/json", headers=headers)
    answered = get_conditional_response(request, etag=etag, response=response)
    return answered if answered is not None else response


def _address(door: Transport, url: str, api_url: str) -> str:
    # A site at https has its sockets at wss.
    return url.replace("http", "ws", 1) + door.address if door.address else api_url


def _in_a_sentence() -> str:
    return "; ".join(f"{actor.display_name}, {actor.role}" for actor in actors) or conf.BEACH_AGENT_NAME


def _skill(actor: Actor) -> JsonObject:
    return {
        "id": actor.name,
        "name": actor.display_name,
        "description": actor.role,
        "tags": ["conversation"],
        "examples": [prompt.text for prompt in actor.prompts],
    }


def _beach() -> JsonObject:
    told = BeachExtension(
        envelopeConsumes=sorted(kind.name for kind in part_types if "inbound" in kind.origins),
        envelopeProduces=sorted(
            kind.name
            for kind in part_types
            if kind.origins & {"actor", "runtime"} and audience(kind) == "delivered"
        ),
        turnStates=[state.name for state in turn_states],
        catalogIds=list(engine_for("en", "UTC").catalogs.ids("1.0", aliases=False)),
        respondSchemaVersion=RESPOND_VERSION,
    )
    return {
        "uri": EXTENSION,
        "description": "Typed parts and turn states of the envelope.",
        "params": told.model_dump(exclude_none=True),
    }


def _a2ui() -> JsonObject:
    params = engine_for("en", "UTC").agent_capabilities()
    return {"uri": A2UI_EXTENSION, "description": "Interfaces in A2UI.", "params": params["1.0"]}
