"""The admin as a test sees it: clients with rights, addresses, parsed pages."""

from __future__ import annotations

from typing import Any
from xml.etree.ElementTree import Element

import html5lib
from django.contrib import admin
from django.contrib.auth.models import User
from django.db.models import Model
from django.test import Client
from django.urls import reverse

from envelopes.models import AgentCall, Approval, Artifact, Session, ToolCall, Turn
from tests import factories

MODELS: tuple[type[Model], ...] = (Session, Turn, ToolCall, Approval, Artifact, AgentCall)
VIEW = tuple(f"view_{model._meta.model_name}" for model in MODELS)


def client_of(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def viewer() -> Client:
    """Staff who may look at everything and decide nothing."""
    return client_of(factories.make_user(staff=True, permissions=VIEW))


def decider(name: str = "jonas") -> Client:
    """Staff who may decide too."""
    return client_of(factories.make_user(name, staff=True, permissions=(*VIEW, "decide_approval")))


def url(target: type[Model] | Model, page: str, *args: object) -> str:
    """The address of an admin page of a model or of one object."""
    name = f"admin:envelopes_{target._meta.model_name}_{page}"
    return reverse(name, args=[*([target.pk] if isinstance(target, Model) else []), *args])


def registered(model: type[Model]) -> Any:
    return admin.site._registry[model]


def parsed(html: bytes | str) -> Element:
    """The page as a browser reads it. Elements are named without namespace."""
    text = html.decode() if isinstance(html, bytes) else html
    tree: Element = html5lib.parse(text, treebuilder="etree", namespaceHTMLElements=False)
    return tree


def text_of(html: bytes | str) -> str:
    return " ".join("".join(parsed(html).itertext()).split())


def said(response: Any) -> str:
    """The messages of the page that a redirect leads to."""
    return " ".join(str(message) for message in response.context["messages"])


def one_of_each() -> dict[type[Model], Model]:
    """A row of every model, in one conversation that has asked for something."""
    session = factories.make_session(title="Lisbon to Copenhagen")
    turn = factories.make_turn(session)
    factories.add_part(turn, "response", text="One flight fits.")
    approval = factories.make_approvals(turn)[0]
    artifact = Artifact.objects.create(
        session=session, owner="sally", name="ticket.pdf", mime_type="application/pdf", size_bytes=3
    )
    return {
        Session: session,
        Turn: approval.turn,
        ToolCall: approval.tool_call,
        Approval: approval,
        Artifact: artifact,
        AgentCall: factories.make_agent_call(session),
    }
