"""The same server with FastMCP: fast.py (stdio|http) TOOLS. Over HTTP, it prints its URL."""

import enum
import logging
import socket
import sys

from fastmcp import FastMCP

mcp = FastMCP("bounds")
logging.disable(logging.CRITICAL)


class Unit(enum.Enum):
    CELSIUS = "Celsius"
    FAHRENHEIT = "Fahrenheit"


@mcp.tool
def add(a: int, b: int) -> str:
    """Adds two numbers."""
    return str(a + b)


def forecast(city: str, days: int, unit: Unit | None = None) -> str:
    """The forecast for a city."""
    return f"{city} {days}"


for number in range(1, int(sys.argv[2])):
    mcp.tool(forecast, name=f"city_{number}_forecast")

if sys.argv[1] == "stdio":
    mcp.run(transport="stdio", show_banner=False)
else:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
    print(f"http://127.0.0.1:{port}/mcp", flush=True)
    mcp.run(transport="http", host="127.0.0.1", port=port, show_banner=False, uvicorn_config={"log_level": "critical"})
