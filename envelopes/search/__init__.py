"""Finding a conversation: the words said in it, ids, names and references, and what lists filter by. Followed from the
log beside the way of its rows, and made anew from it where it is lost."""

from envelopes.search.indexing import Follower, catch_up, compact, forget, index_all
from envelopes.search.listing import Filters, Listed, OwnerKind, listed
from envelopes.search.query import Query, read_query
from envelopes.search.states import State

__all__ = [
    "Filters",
    "Follower",
    "Listed",
    "OwnerKind",
    "Query",
    "State",
    "catch_up",
    "compact",
    "forget",
    "index_all",
    "listed",
    "read_query",
]
