from typing import Literal, NotRequired, TypedDict

class PlanTripPlace(TypedDict):
    city: str  # The city.
    country: NotRequired[str]

class PlanTripWay2Ride(TypedDict):
    driver: str  # Who drives.

class PlanTripWay2(TypedDict):
    Ride: PlanTripWay2Ride

class Tree(TypedDict):
    name: str
    children: list[Tree]

class PlanTripResult(TypedDict):
    name: str
    children: list[Tree]

def plan_trip(place: PlanTripPlace, tags: list[str], exact: list[bool | float], weights: dict[str, float], days: int = 3, way: Literal["Walk"] | PlanTripWay2 = ...) -> PlanTripResult:
    """Plans a trip.

    Says "how".

    place: Where to go.
    exact: (minItems 2, maxItems 2)
    days: How long. (minimum 1, maximum 14)
    way: How to go.
    """

def print_(from_: str) -> str:
    """Prints."""
