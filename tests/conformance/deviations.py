"""Where the engine does something else than a suite, and why: the source of the table in docs/a2ui-conformance.md.

The rulebook's order of authority holds (D27): conformance suites, schemas, both official cores, our own decisions.
Each entry that names a case is tested: the case still comes out differently.
"""

from __future__ import annotations

from collections.abc import Mapping

EDGE_CASES: Mapping[str, str] = {
    "comp/self-reference": "a message that closes a cycle is refused, as the shared case of that name asks",
    "comp/cycle": "a message that closes a cycle is refused, as the shared case of that name asks",
    "formatNumber/missing": "absent numbers show as empty text, without error (rulebook 9.4)",
    "formatNumber/big": "integers stay exact (rulebook 6.6)",
    "formatNumber/d-huge": "decimals are clamped to 0 to 20 (rulebook 9.4)",
    "formatNumber/inf": "infinity is no JSON number and never gets into a model (rulebook 6.6)",
    "formatCurrency/missing": "absent numbers show as empty text, without error (rulebook 9.4)",
    "formatDate/value-zero": "a number is epoch milliseconds, 0 too (rulebook 9.4 and the shared date cases)",
    "pluralize/missing": "an absent number takes `other`, without error (rulebook 9.4)",
    "formatString/call-path-prefix": "nothing may follow a path; the name of a function has no slash (rulebook 10)",
    "props/list-style": "unknown properties are ignored and reported (rulebook 5.1)",
}
"""Programs of expected/edge-cases.json of which both official cores make something else."""

SHARED_CASES: Mapping[str, str] = {
    "tree-repeated-and-dangling-ids:same_id_twice_in_one_message": (
        "the same id twice in one message means that the last one counts, with a report (rulebook 4 and decision 10, "
        "after both official cores); strict mode refuses it"
    ),
}
"""Shared cases that the engine does not follow."""

_DEPTH = "50 levels there, 100 here (rulebook 8 and 23); deeper trees are cut with a notice, deeper data is refused"
_REMOVAL = "the case removes a component; v0.9 has no message for that (rulebook 4)"
_VALIDATOR = "agent_sdks/conformance/suites/validator"

SUITES: Mapping[str, str] = {
    "conformance/core/message_processor_v0_9:test_v09_get_renderer_capabilities_inline_catalogs": (
        "0.9 is offered no inline catalogs; 1.0 is, where the options take them (optional, rulebook 14.3)"
    ),
    "specification/v1_0/conformance/rpc_functions:requires_user_activation": (
        "an agent's message is never a click, whatever it says of one (9)"
    ),
    "conformance/core/node_resolution:shared_definition_independent_instances": _REMOVAL,
    "conformance/core/node_resolution:root_lifecycle": _REMOVAL,
    f"{_VALIDATOR}:test_validator_0_9": (
        "its simplified schema lets the theme colour `blue` pass; the real schema and the newer core suite refuse it"
    ),
    f"{_VALIDATOR}:test_validate_component_nesting_depth_limit_exceeded_v08": _DEPTH,
    f"{_VALIDATOR}:test_validate_recursion_limit_exceeded_v09": _DEPTH,
    f"{_VALIDATOR}:test_validate_global_recursion_limit_exceeded_v09": _DEPTH,
    f"{_VALIDATOR}:test_custom_catalog_validation_failure_v08": (
        "v0.8 is translated and not held against its own schema: a number where text is expected becomes text "
        "(rulebook 5.1)"
    ),
    **{f"expected/edge-cases:{name}": reason for name, reason in EDGE_CASES.items()},
    **{f"shared cases/components:{name}": reason for name, reason in SHARED_CASES.items()},
}
"""All cases that come out differently, by suite and name."""

NOT_OURS: Mapping[str, str] = {
    "agent_sdks/conformance/suites/streaming_parser (80)": (
        "cuts messages out of a model's half-finished text; here a surface comes as a complete block of a tool call "
        "(`envelopes.runtime.respond_stream` has tests of its own)"
    ),
    "agent_sdks/conformance/suites/parser (17)": "repairs the text of a model before it is JSON",
    "agent_sdks/conformance/suites/schema_manager (19)": "builds prompts and negotiates catalogs on the agent's side",
    "agent_sdks/conformance/suites/catalog (23)": "prunes, prints and loads catalog schemas for prompts",
    "agent_sdks/conformance/suites/a2a_integration (13)": "wraps messages for the A2A transport, not for a renderer",
    "specification/v1_0/conformance/index_function": (
        "its programs use a component that no catalog has; `@index` is tested by tests/a2ui/v1_0/test_index.py"
    ),
    "specification/v1_0/test/cases/composition_constraints, renderer_messages": (
        "schemas of catalogs, which here are code, and of what renderers send"
    ),
    "shared cases of other kinds": (
        "Markdown, addresses and themes are tables run by tests/a2ui/test_markdown.py, test_urls.py and "
        "test_shared_cases.py; hostile texts by test_xss.py; the rest concerns envelopes and the page"
    ),
}
"""Suites that test something else than a renderer."""

RULES: Mapping[str, str] = {
    "errors": "codes are those of the rulebook (5.2); texts are our own, so suites are held to the category",
    "empty or very long `surfaceId`, empty `catalogId` and `id`": (
        "refused, though the schemas let them pass: nothing could be told apart by them (2.1, 4)"
    ),
    "strict mode": (
        "refuses what the schemas refuse and, beside that, whatever the lenient mode reports: the same id twice, a "
        "path that cannot be read, two options with one value, limits"
    ),
    "the minimal catalog": "served with the components of the Basic Catalog, which take a few properties more (18)",
    "the same id twice in one message": (
        "the last one counts, with a report (section 4, both cores). The agent-side validator suite and one shared "
        "case want it refused: strict mode does"
    ),
    "`pluralize` with exactly 0, 1 or 2": (
        "takes the text given for `zero`, `one`, `two` even where the language has no such category (9.4, a core "
        "conformance case). Rows of the shared tables that follow CLDR alone are accepted in both readings"
    ),
    "a message that closes a cycle": "refused (a shared case); both cores accept it and stop while drawing",
    "lists": "items are told apart by `key` or `id` where all have a unique one (D28); upstream by position only",
    "prototype names in paths and values": "refused, or left out of values with a report (D29)",
    "the official Python core, on programs made at random (tests/conformance/test_differential.py)": (
        "agrees but for: bindings inside `tabs`, `options` and `accessibility`, which it leaves alone; rounding half "
        "to even and two decimals for every currency (9.4); null for absent numbers (9.4); empty lists and objects as "
        "false (9.3); `.` as a path (7.4); the text of numbers and objects in `length` and its siblings (9.2); null as "
        "deletion (6.3); more than five levels of calls refused outside of strict mode (9.1); messages of checks "
        "without text left out; JSON shown as text in ASCII (7.3); cycles accepted and stopped while drawing"
    ),
    "the official Python core, on programs made in 1.0 (tests/conformance/test_differential_1_0.py)": (
        "agrees in its dialect, the late candidate, but for what is said of it above for 0.9, and: `@index` in a text, "
        "which it cannot read there; the words of a check without any; a whole number with decimals, in a text "
        "as `3.0`; deletion by null is the same"
    ),
    "the official JavaScript core, on programs made in 1.0 and converted (tests/long/test_official_cores.py)": (
        "agrees but for: deleting what is not there, which makes the lists on the way, or by a name in a list, which "
        "is an error; an empty list and an empty text as the number 0; the length of what is absent, and `not` of it; "
        "an object in a text as its class, an absent value as `undefined`; a condition that is literally false read "
        "as none; cycles"
    ),
    "direction marks (U+061C, U+200E, U+200F)": (
        "stripped from everything that is shown, those of the locale data in numbers included: an agent could reorder "
        "text with them; elements isolate the direction of their text instead (17)"
    ),
    "1.0: functions across the wire": (
        "an agent's message is never a click, so functions that need one are refused, whatever the caller says; calls "
        "that are not allowed get a response, no error message (9, 12.5). A check whose call is pending counts as "
        "passed, not as it did before, and holds its button back; an answer with an unknown id is refused, with "
        "everything in its part. The same call is not made again while the surface shows it, an error included"
    ),
    "1.0: `hidden` of `@accessibility`": (
        "left out, with a NOT_CARRIED_OVER report, where anything inside can take focus (7); links that come from the "
        "data are text where it is hidden"
    ),
    "1.0: variants `h1` to `h5`, `validationRegexp`": (
        "drawn as before and told (DEPRECATED); strict mode refuses them (8)"
    ),
    "1.0: headings of Markdown": "all `h3`, with the look of their level: none outranks those of the page",
    "1.0: a `surfaceId` after its surface was deleted": "taken, and told once (SURFACE_ID_REUSED, 3.1)",
    "1.0: inline catalogs": (
        "their components are drawn as those of ours that they refer to, or as placeholders; their functions are those "
        "of ours that they refer to (5)"
    ),
    "1.0: `live` of an input": "of its messages: what is typed is never announced",
    "1.0: `formatString` of a catalog": "only of one that has it: there is no fallback to the default catalog (5)",
    "1.0: a surface of the Basic Catalog 0.9": (
        "is taken; its validators give true and false, and components of catalogs made for 1.0 cannot stand in it"
    ),
    "v0.8: maps as lists": (
        "v0.8 data has no lists: a map that a template runs over, or whose keys count up (`0`, `1`, … or `item1`, "
        "`item2`, …) over maps, becomes a list. Items that are objects carry the name of their entry as `key`, by "
        "which later messages find them; paths of components use the index"
    ),
    "v0.8: paths in templates": (
        "start at the item, with a slash (`/name`) or without (`./name`, `name`); elsewhere all of them start at the "
        "root"
    ),
    "v0.8: JSON in `valueString`": "is data where it is a list or an object; any other text stays text",
    "v0.8: `textFieldType: date`": "a text field without variant; v0.9 has none of that kind",
}
"""Decisions that no single case shows."""
