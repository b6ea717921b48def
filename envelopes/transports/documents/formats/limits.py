"""How much of a document is used, and how large a patch may be: a parameter of everything that reads one."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DocumentLimits:
    """Bounds on one document and its patches (reading 2.1); variants by ``dataclasses.replace``. ``_chars`` are code
    points, ``_bytes`` of UTF-8, ``_ms`` milliseconds, all others counts."""

    surface_chars: int = 128
    document_bytes: int = 250_000
    """Compact JSON of a document in its normal form: one that is sent whole has to fit into an a2ui envelope."""
    components: int = 128
    id_chars: int = 64
    text_chars: int = 512
    """One text, list item or cell."""
    markdown_chars: int = 12_000
    list_items: int = 256
    table_columns: int = 16
    table_rows: int = 256
    form_fields: int = 32
    select_options: int = 64
    chart_points: int = 64
    checklist_entries: int = 6
    """Of the reviews and the exit criteria of an experimental document, each."""
    checklist_chars: int = 160
    patch_operations: int = 256
    path_chars: int = 512
    tick_operations: int = 512
    """Operations after which a queue goes on in the next tick; a single patch is never split."""
    tick_ms: int = 12
    """The same in time: it decides when a patch is applied, never whether."""
    queue_depth: int = 1_024


DEFAULT_LIMITS = DocumentLimits()
