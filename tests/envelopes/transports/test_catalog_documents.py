"""Our own catalog is at the path of its id, and fetched again only when it has changed."""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest
from django.test import Client

from a2ui import CATALOG_DOCUMENTS, catalog_document


@pytest.mark.parametrize(("catalog_id", "version"), CATALOG_DOCUMENTS.items())
def test_it_is_where_its_id_says(client: Client, catalog_id: str, version: str) -> None:
    address = urlsplit(catalog_id).path
    first = client.get(address)
    assert first.json() == catalog_document(version)
    assert first.json()["$id"] == catalog_id
    assert first["Content-Type"] == "application/schema+json"
    assert first["Access-Control-Allow-Origin"] == "*"
    assert set(first["Cache-Control"].split(", ")) == {"public", "max-age=3600"}

    again = client.get(address, headers={"If-None-Match": first["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert client.post(address).status_code == 405
