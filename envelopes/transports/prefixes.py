"""Where a project has put ``envelopes.urls``: sockets are below the same prefix as pages."""

from __future__ import annotations

from django.core.exceptions import ImproperlyConfigured
from django.urls import NoReverseMatch, reverse

from envelopes.addresses import path_of

INCLUDE = 'path("beach/", include("envelopes.urls"))'


def own() -> str:
    """The prefix as the URLconf has it, with a slash at both ends: ``/`` or ``/beach/``. Raises
    ``ImproperlyConfigured`` where there is none."""
    return path_of(address())


def address(below: str = "") -> str:
    """The path at which browsers find ``below``, a path below the prefix such as ``ws/live/``."""
    try:
        openapi = reverse("envelopes:openapi")
    except NoReverseMatch as error:
        raise ImproperlyConfigured(
            f"Beach has no address: add {INCLUDE} to the urlpatterns of ROOT_URLCONF. ({error})"
        ) from error
    return openapi.removesuffix("api/openapi.json") + below
