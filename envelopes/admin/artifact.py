"""Artifacts: what there is, never what is in it."""

from __future__ import annotations

from django.contrib import admin
from django.template.defaultfilters import filesizeformat
from django.utils.safestring import SafeString

from envelopes.admin.base import HistoryAdmin
from envelopes.admin.display import link
from envelopes.models import Artifact


@admin.register(Artifact)
class ArtifactAdmin(HistoryAdmin[Artifact]):
    """Files that belong to conversations; their content is not loaded."""

    list_display = ["name", "mime_type", "size", "conversation", "created_at"]
    list_select_related = ["session"]
    search_fields = ["name", "^artifact_id"]
    secret_fields = ["content"]
    extra_fields = ["size"]

    @admin.display(description="size", ordering="size_bytes")
    def size(self, artifact: Artifact) -> str:
        return filesizeformat(artifact.size_bytes)

    @admin.display(description="conversation")
    def conversation(self, artifact: Artifact) -> SafeString:
        return link(artifact.session, str(artifact.session))
