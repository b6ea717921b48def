"""A process that patches a document: ``... SESSION PEER NAME COUNT``. Prints the version of each patch."""

from __future__ import annotations

import os
import sys
import time

import django


def main(session_pk: str, peer_pk: str, name: str, count: str) -> None:
    os.environ["DJANGO_SETTINGS_MODULE"] = "beachsite.settings.test"
    django.setup()
    from envelopes.models import Peer, Session
    from envelopes.peers import principal_of_peer
    from envelopes.transports.documents.shapes.a2ui import A2uiEnvelope
    from envelopes.transports.documents.shapes.common import canonical_id
    from envelopes.transports.documents.storing import post_patch

    who = principal_of_peer(Peer.objects.get(pk=peer_pk))
    for number in range(int(count)):
        session = Session.objects.get(pk=session_pk)
        op = {"op": "add", "path": "/components/0/props/items/-", "value": f"{name} {number}"}
        envelope = A2uiEnvelope.model_validate(
            {
                "v": 1,
                "id": canonical_id(int(time.time() * 1_000), name, number),
                "surface": "s",
                "patch": {"v": 1, "ops": [op]},
            }
        )
        sys.stdout.write(f"{post_patch(session, who, envelope)['version']}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
