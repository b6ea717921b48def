"""What the three source documents say, as data: each sentence with *must*, *only*, *never* or *always* and each of
their examples is a case in one of the files beside this one, with an input and what has to come of it.

A case of **turns** has ``replies``, what the model answers step by step: a mapping is a call of ``respond()``, with
``call`` of a tool after it; a text is written outside of any tool. ``tools`` are those that it has: ``gives`` (its
result), ``dataKind``, ``asks`` (a person). ``approve`` decides what is asked, once the turn waits. ``expect`` holds

``turn``       turnState, status, finalizedBy
``streamed``   by reader: the types of the parts that a streaming transport brings, in order
``envelope``   by reader: the types of the parts of the buffered envelope
``parts``      parts of the envelope, compared as far as they are written here; of the partial one where the turn waits
``state``      of the session, by key
``problem``    by which the last call was refused, as the model reads it

A reader is a ``person`` (who sees interfaces), a ``peer`` (a program whose card says nothing of Beach), or
``peer: a, b`` (one that consumes a and b).

A case of **calls** has ``input``, one call of ``respond()``, and ``refused``: the pointer to what is wrong, or nothing.
"""
