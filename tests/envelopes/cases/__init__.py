"""The shared cases of the transport, of approvals, of streamed parts and of privacy, one test each, named after it.

What a test does not assert as the case words it, and why:

ws-updates-respect-what-the-user-is-typing
    Needs a browser: tests/browser.
pa-admin-shows-json-as-text
    With the tests of the admin: tests/envelopes/admin.
st-json-chunks-at-awkward-places
    With the parser: tests/envelopes/runtime/test_respond_stream.py.
st-artifact-append-and-replace
    With the files: tests/envelopes/test_artifact_writes.py. Ids are ours: a name of the case stands for one.
ws-bad-frame-does-not-kill-the-chat, ws-same-action-delivered-twice
    Our frames: an action names a button's DOM id, and ``client_seq`` is part of a message id.
pa-session-and-approval-ids-are-no-tickets
    A frame that names a session gets ``VALIDATION_FAILED``: ours have no field for one, so nothing of another session
    can be asked for. What they can name (approval, target) gets ``not_found``.
ap-executes-exactly-what-was-shown
    A grant runs its call at once; what the agent calls afterwards is a new call, with a question of its own.
ap-late-click-is-reported-honestly
    The state was changed by ``policy:expiry`` (D18), that is by no person.
st-nothing-after-settlement-and-no-open-ends
    ``empty_complete`` is refused (D3: at least one part) and ends in an error part. ``interrupted`` is the error card
    below what was whole.
"""
