"""Our own catalog as a document, at the path of its id: for whoever looks up what surfaces of ours are made of."""

from __future__ import annotations

import hashlib
import json
from functools import cache
from urllib.parse import urlsplit

from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern, path
from django.views.decorators.cache import cache_control
from django.views.decorators.http import condition, require_safe

from a2ui import CATALOG_DOCUMENTS, catalog_document

SECONDS = 3_600
"""How long whoever has fetched one need not ask again: a release may change it."""


@cache
def _text(version: str) -> bytes:
    return json.dumps(catalog_document(version), indent=2, ensure_ascii=False).encode() + b"\n"


def _etag(request: HttpRequest, version: str) -> str:
    return f'"{hashlib.sha256(_text(version)).hexdigest()[:32]}"'


@require_safe
@cache_control(public=True, max_age=SECONDS)
@condition(etag_func=_etag)
def published(request: HttpRequest, version: str) -> HttpResponse:
    """The catalog for this version of the protocol. For anybody: it tells nothing of anybody."""
    headers = {"Access-Control-Allow-Origin": "*"}
    return HttpResponse(_text(version), content_type="application/schema+json", headers=headers)


def routes() -> list[URLPattern]:
    """One for each version."""
    return [
        path(urlsplit(catalog_id).path[1:], published, {"version": version}, name=f"catalog-{version}")
        for catalog_id, version in CATALOG_DOCUMENTS.items()
    ]
