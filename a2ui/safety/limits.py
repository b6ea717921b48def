"""Every limit of the engine in one place (rulebook section 23, decisions D30 and D52)."""

from __future__ import annotations

from dataclasses import dataclass

KIB = 1024
MIB = 1024 * KIB


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on what an agent or a browser may make the server do. Hashable; make variants with
    `dataclasses.replace`.

    Units are in the names: `_bytes` of UTF-8, `_chars` code points, `_ms` milliseconds; all others are counts.
    """

    message_bytes: int = 1 * MIB
    """One message from a peer or a model."""
    trusted_message_bytes: int = 4 * MIB
    """One message from an actor that runs in this process."""
    surfaces: int = 50
    """Live surfaces of one session."""
    surface_id_chars: int = 256
    components: int = 10_000
    """Stored components of one surface, reachable or not."""
    entries: int = 50_000
    """Entries of the lists in the components of one message: children, tabs, options, checks."""
    instances: int = 10_000
    """Rendered nodes of one surface."""
    repeats: int = 2_000
    """Places of one surface at which components are used again, beyond the first place of each."""
    html_chars: int = 5_000_000
    """Long texts (over 1,000 characters) from the data model in one surface."""
    surface_chars: int = 8_000_000
    """HTML of all components of one surface."""
    depth: int = 100
    """Levels of the rendered tree."""
    list_items: int = 1_000
    """Items of one template before "show more"."""
    checks: int = 50
    """Checks of one component."""
    options: int = 1_000
    """Options of one picker."""
    fields: int = 50
    """Columns of one table, fields of one form, series of one chart."""
    points: int = 500
    """Points of one chart."""
    errors: int = 50
    """Reports of one surface, then one summary."""

    metadata_size: int = 20_000
    """Values in the metadata of one surface or component, and characters of the texts in it."""

    data_bytes: int = 4 * MIB
    """One data model, see `a2ui.data.values.measure`."""
    data_depth: int = 100
    """Levels of containers in a data model or in a value written to it."""
    list_index: int = 10_000
    """Highest index that a write may create; a list that a value brings along may be longer."""
    patch_operations: int = 256
    """Operations of one JSON Patch."""
    patch_nodes: int = 100_000
    """JSON values that the `copy` and `move` operations of one patch may touch."""

    text_chars: int = 100_000
    """Text of one property; longer text is cut."""
    markdown_chars: int = 8_000
    """Text read as Markdown; longer text is shown plain."""
    markdown_marks: int = 1_000
    """Lines and characters with a meaning in one Markdown text; text with more is shown plain."""
    long_markdown_chars: int = 24_000
    """The same for a component that is made for long texts (`Markdown` of our own catalog)."""
    long_markdown_marks: int = 3_000
    """The same for such a component."""
    markdown_work: int = 10_000
    """What reading the Markdown texts of one drawing anew costs, in such marks; the length of a text counts as well."""
    json_chars: int = 10_000
    """Text of a list or object where a text is expected."""

    expression_chars: int = 10_000
    expression_parts: int = 1_000
    expression_depth: int = 100
    """Levels of `${...}` and calls inside one formatString text."""
    call_depth: int = 20
    """Levels of function calls inside the arguments of function calls."""
    call_arguments: int = 1_000
    """Arguments of one call."""

    work: int = 100_000
    """Function calls in one drawing of a surface; long texts, lists and patterns count for more."""
    regex_pattern_chars: int = 1_000
    regex_input_chars: int = 10_000
    regex_size: int = 5_000
    """Characters and sets of a pattern with all counts written out."""
    regex_steps: int = 8_000_000
    """Bytes of the text times what may be alive of the pattern at once, in one search."""
    regex_slow_steps: int = 100_000
    """Steps of a search with look-around, or with large counts of large sets."""

    agent_calls: int = 100
    """Calls of agents' functions that one surface keeps, pending and answered ones."""
    agent_call_chars: int = 10_000
    """JSON of the arguments of such a call."""
    agent_answer_bytes: int = 100_000
    """One answer to such a call, see `a2ui.data.values.measure`."""
    renderer_calls: int = 100
    """Calls of renderer functions in the messages that are checked together."""


DEFAULT_LIMITS = Limits()
