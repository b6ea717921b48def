"""The pages of the site, and those of docs/operating.md by which people come back from their provider."""

from __future__ import annotations

from django.urls import include, path

from beachsite.urls import urlpatterns as ours

urlpatterns = [*ours, path("oidc/", include("mozilla_django_oidc.urls"))]
