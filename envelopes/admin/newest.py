"""Lists in the order in which their rows were made, newest first: older and newer from where one is, whatever the table
holds. Nothing is counted and nothing skipped."""

from __future__ import annotations

from typing import Any, TypeVar

from django.contrib.admin.views.main import ChangeList
from django.db.models import Model
from django.http import HttpRequest, QueryDict

from envelopes.admin.base import HistoryAdmin

M = TypeVar("M", bound=Model)

BEFORE, AFTER = "before", "after"

_MOST = 2**63 - 1
"""What a column holds."""


def place_in(asked: QueryDict, name: str) -> int | None:
    """Where to go on from, as an address says it; None for nowhere."""
    value = asked.get(name, "")
    if not (value.isascii() and value.isdecimal()) or len(value) > len(str(_MOST)):
        return None
    return min(int(value), _MOST)


class NewestFirst(ChangeList):
    """``newer`` and ``older`` are addresses, "" where there is nothing."""

    is_newest_first = True
    newer = older = ""

    def get_filters_params(self, params: Any = None) -> dict[str, Any]:
        found: dict[str, Any] = super().get_filters_params(params)
        return {name: value for name, value in found.items() if name not in (BEFORE, AFTER)}

    def get_results(self, request: HttpRequest) -> None:
        before, after = place_in(request.GET, BEFORE), place_in(request.GET, AFTER)
        upwards = after is not None and before is None
        edge = after if upwards else before
        rows = self.queryset.order_by("pk" if upwards else "-pk")
        if edge is not None:
            rows = rows.filter(**{"pk__gt" if upwards else "pk__lt": edge})
        found = list(rows[: self.list_per_page + 1])
        has_more, found = len(found) > self.list_per_page, found[: self.list_per_page]
        if upwards:
            found.reverse()
        if found and (has_more if upwards else edge is not None):
            self.newer = self.get_query_string({AFTER: found[0].pk}, [BEFORE, AFTER])
        if found and (edge is not None if upwards else has_more):
            self.older = self.get_query_string({BEFORE: found[-1].pk}, [BEFORE, AFTER])
        self.result_list = found
        # What the stock pages ask: of these all are shown.
        self.paginator = None
        self.result_count = self.full_result_count = len(found)
        self.show_full_result_count = self.can_show_all = self.multi_page = self.show_all = False
        self.show_admin_actions = bool(found)


class NewestFirstAdmin(HistoryAdmin[M]):
    """The same as ``HistoryAdmin``, for what there are very many of."""

    ordering = ["-pk"]
    sortable_by = ()

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        return NewestFirst
