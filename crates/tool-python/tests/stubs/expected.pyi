from typing import Any, Callable, Coroutine, Generic, Literal, NotRequired, ParamSpec, TypeVar, TypedDict

_P = ParamSpec("_P")
_R = TypeVar("_R")

class _Tool(Generic[_P, _R]):
    def __call__(self, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        """Calls the tool and waits for its result."""

    def start(self, *args: _P.args, **kwargs: _P.kwargs) -> Coroutine[Any, Any, _R]:
        """Calls the tool when it is awaited, side by side with other calls."""

def _tool(function: Callable[_P, _R]) -> _Tool[_P, _R]: ...

class ToolError(Exception):
    """A tool failed."""

@_tool
def call_tool(name: str, /, **arguments: Any) -> Any:
    """Calls a tool by its name."""

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

@_tool
def plan_trip(place: PlanTripPlace, tags: list[str], exact: list[bool | float], weights: dict[str, int], days: int = 3, way: Literal["Walk"] | PlanTripWay2 = ...) -> PlanTripResult:
    """Plans a trip.

    Says "how".

    place: Where to go.
    exact: (exactly 2 items)
    weights: (1 to 3 properties; each value: 0 to 255)
    days: How long. (1 to 14)
    way: How to go.
    """

@_tool
def print_(from_: str) -> str:
    """Prints."""
