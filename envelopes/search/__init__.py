"""Finding a conversation: the words said in it, ids, names and references, and what lists filter by. Followed from the
log beside the way of its rows, and made anew from it where it is lost."""

from envelopes.search.indexing import Follower, catch_up, compact, forget, index_all
from envelopes.search.listing import Filters, Listed, listed
from envelopes.search.query import Query, read_query

__all__ = [
    "Filters",
    "Follower",
    "Listed",
    "Query",
    "catch_up",
    "compact",
    "forget",
    "index_all",
    "listed",
    "read_query",
]
