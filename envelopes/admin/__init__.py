"""The admin: everything can be looked at, nothing of the past can be changed. Staff decide approvals here.

Django's autodiscovery imports this package; each module registers its model, where the admin is the desk: in any other
site the pages would have neither frame nor styles.
"""

from envelopes.desk import is_here

if is_here():
    from envelopes.admin import (  # noqa: F401  (registers the models)
        agent_call,
        approval,
        artifact,
        audit,
        peer,
        session,
        start,
        tool_call,
        turn,
    )
