from __future__ import annotations

from datetime import date, timedelta

from beachsite.demo import catalogue, fares
from beachsite.demo.fares import Wish

AUGUST = date(2026, 8, 15)


def test_the_example_of_the_protocol() -> None:
    found = {one["flightNumber"]: one for one in fares.find_offers(Wish("LGW", "CFU", AUGUST, passengers=2))}

    easyjet, british = found["EJ4521"], found["BA 2043"]
    assert (easyjet["departure"], easyjet["arrival"]) == ("2026-08-15T06:15:00", "2026-08-15T12:00:00")
    assert (easyjet["pricePerPerson"], easyjet["totalPrice"], easyjet["currency"]) == (94, 188, "GBP")
    assert (british["departure"], british["arrival"]) == ("2026-08-15T08:45:00", "2026-08-15T14:20:00")
    assert british["pricePerPerson"] == 187


def test_cheapest_first() -> None:
    prices = [one["pricePerPerson"] for one in fares.find_offers(Wish("LGW", "CFU", AUGUST))]

    assert prices == sorted(prices)
    assert len(prices) >= 3


def test_filters_narrow() -> None:
    everything = fares.find_offers(Wish("LGW", "CFU", AUGUST))

    direct = fares.find_offers(Wish("LGW", "CFU", AUGUST, direct_only=True))
    cheap = fares.find_offers(Wish("LGW", "CFU", AUGUST, max_price=100))
    morning = fares.find_offers(Wish("LGW", "CFU", AUGUST, time_of_day="morning"))

    assert {one["stops"] for one in direct} == {0}
    assert [one["flightNumber"] for one in cheap] == ["EJ4521"]
    assert all(one["departure"][11:] < "12:00" for one in morning)
    assert len(direct) < len(everything)


def test_the_price_is_the_same_each_time_and_differs_by_day() -> None:
    flight = catalogue.timetable()["NV 202"]
    days = [AUGUST + timedelta(days=n) for n in range(30)]

    first = [fares.fare(flight, day) for day in days]

    assert first == [fares.fare(flight, day) for day in days]
    assert len(set(first)) > 5
    assert all(flight.price * 0.7 < price < flight.price * 1.5 for price in first)


def test_a_flight_flies_only_on_its_days() -> None:
    friday = date(2026, 8, 14)

    assert "IW 604" not in {one["flightNumber"] for one in fares.find_offers(Wish("LGW", "CFU", friday))}
    assert "IW 604" in {one["flightNumber"] for one in fares.find_offers(Wish("LGW", "CFU", AUGUST))}


def test_the_calendar_never_goes_into_the_past() -> None:
    calendar = fares.lowest_by_day("LGW", "CFU", AUGUST, today=AUGUST)

    assert calendar[0]["date"] == "2026-08-15"
    assert len(calendar) == 7


def test_an_arrival_after_midnight_is_on_the_next_day() -> None:
    offer = fares.offer(catalogue.timetable()["EJ6311"], AUGUST)

    assert offer["departure"] == "2026-08-15T22:05:00"
    assert offer["arrival"] == "2026-08-15T23:05:00"


def test_money() -> None:
    assert fares.money(188, "GBP") == "£188.00"
