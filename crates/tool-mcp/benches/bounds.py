#!/usr/bin/env python3
"""Compares a server with a plain server of rmcp, and with servers of others, by the same client. Checks its bounds.

    crates/tool-mcp/benches/bounds.py OURS PLAIN [NAME=COMMAND ...]

OURS and PLAIN are the examples `bounds_ours` and `bounds_plain`, built with --release. Others are servers that take
`(stdio|http) TOOLS`, such as `fastmcp="PYTHON crates/tool-mcp/benches/servers/fast.py"`. Without HTTP, they end at once with it.

The times are those of the server's process on the CPU, in user and system mode (Linux): other programs disturb them
little. The client writes prepared bytes. With 64 at a time it has 64 requests open: on one pipe, or on a connection of
HTTP each, in a session each. The servers take turns. A ratio is the median of those of the turns, so that a
machine that gets slower meanwhile does not change it. Ends with 1 if a bound is missed.

Environment: ROUNDS (9), and ONLY, a part of the titles of the rows to measure.
"""

import json
import os
import pathlib
import re
import shlex
import socket
import statistics
import subprocess
import sys
import time

ROUNDS = int(os.environ.get("ROUNDS", 9))
# A turn is made of this many smaller ones.
BATCHES = 20
ONLY = os.environ.get("ONLY", "")
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "bounds", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
CLIENT = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bounds", "version": "1"}}
ADD = {"name": "add", "arguments": {"a": 2, "b": 3}}
OLD, NEW = "2025-11-25", "2026-07-28"
MISSED = []


def message(method, params=None, version=OLD, id=1):
    body = {"jsonrpc": "2.0", "method": method, "params": dict(params or {})}
    if id is not None:
        body["id"] = id
    if version == NEW:
        body["params"]["_meta"] = META
    return json.dumps(body, separators=(",", ":")).encode()


class Process:
    def __init__(self, command):
        self.command = command
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, bufsize=0)

    def cpu(self):
        """Seconds on the CPU, of all threads."""
        total = 0
        for thread in pathlib.Path(f"/proc/{self.process.pid}/task").iterdir():
            total += int((thread / "schedstat").read_text().split()[0])
        return total / 1e9

    def memory(self, kind=r"Private_\w+"):
        """Bytes of memory that only this process has, its code among them, or those of another kind."""
        text = pathlib.Path(f"/proc/{self.process.pid}/smaps_rollup").read_text()
        kilobytes = re.findall(rf"^{kind}: +(\d+) kB", text, re.MULTILINE)
        return sum(map(int, kilobytes)) * 1024

    def stop(self):
        self.process.kill()
        self.process.wait()


class Lines(Process):
    """A server on standard input and output."""

    def write(self, bytes):
        self.process.stdin.write(bytes)

    def read(self, count):
        """Reads lines, and returns the last part."""
        while count > 0:
            part = os.read(self.process.stdout.fileno(), 1 << 20)
            if not part:
                raise RuntimeError(f"{self.command} ended")
            count -= part.count(b"\n")
        return part

    def ask(self, body):
        self.write(body + b"\n")
        parts = []
        while not parts or not parts[-1].endswith(b"\n"):
            parts.append(os.read(self.process.stdout.fileno(), 1 << 20))
            if not parts[-1]:
                raise RuntimeError(f"{self.command} ended")
        return b"".join(parts)

    def open(self, method, params, version, width):
        """Returns a function that makes `width` requests at a time."""
        if version == OLD:
            self.ask(message("initialize", CLIENT))
            self.write(message("notifications/initialized", id=None) + b"\n")
        requests = b"".join(message(method, params, version, id) + b"\n" for id in range(1, width + 1))

        def round():
            self.write(requests)
            self.read(width)

        return self.ask(message(method, params, version)), round


class Connection:
    """A connection of HTTP."""

    def __init__(self, port):
        self.port = port
        self.session = ""
        for _ in range(100):
            try:
                self.socket = socket.create_connection(("127.0.0.1", port))
                break
            except ConnectionRefusedError:
                time.sleep(0.1)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def post(self, body, headers=""):
        return (
            f"POST /mcp HTTP/1.1\r\nhost: 127.0.0.1:{self.port}\r\ncontent-type: application/json\r\n"
            f"accept: application/json, text/event-stream\r\n{self.session}{headers}"
            f"content-length: {len(body)}\r\n\r\n"
        ).encode() + body

    def read(self):
        received = b""
        while True:
            part = self.socket.recv(1 << 20)
            if not part:
                raise RuntimeError(f"the connection was closed after {received!r}")
            received += part
            head, separator, rest = received.partition(b"\r\n\r\n")
            if not separator:
                continue
            length = re.search(rb"content-length: (\d+)", head, re.IGNORECASE)
            is_chunked = b"chunked" in head.lower()
            if len(rest) >= int(length[1]) if length else (not is_chunked or rest.endswith(b"0\r\n\r\n")):
                return received

    def ask(self, request):
        self.socket.sendall(request)
        return self.read()

    def new_session(self):
        self.session = ""
        head = self.ask(self.post(message("initialize", CLIENT)))
        self.session = "mcp-session-id: " + re.search(rb"mcp-session-id: (\S+)", head, re.IGNORECASE)[1].decode() + "\r\n"
        self.ask(self.post(message("notifications/initialized", id=None), "mcp-protocol-version: 2025-11-25\r\n"))

    def request(self, method, params, version):
        headers = f"mcp-protocol-version: {version}\r\n"
        if version == NEW:
            headers += f"mcp-method: {method}\r\n"
            if "name" in params:
                headers += f"mcp-name: {params['name']}\r\n"
        return self.post(message(method, params, version), headers)


class Http(Process):
    """A server over HTTP."""

    def __init__(self, command):
        super().__init__(command)
        url = re.search(r":(\d+)/", self.process.stdout.readline().decode())
        if not url:
            raise RuntimeError(f"{command} has no HTTP")
        self.port = int(url[1])

    def open(self, method, params, version, width):
        connections = [Connection(self.port) for _ in range(width)]
        if version == OLD:
            for connection in connections:
                connection.new_session()
        requests = [(connection, connection.request(method, params, version)) for connection in connections]

        def round():
            for connection, request in requests:
                connection.socket.sendall(request)
            for connection in connections:
                connection.read()

        return connections[0].ask(requests[0][1]), round


def open_one(make, command, method, params, version, width, repeats):
    """Starts a server. Returns it and a function that makes that many rounds of requests, and the bytes of a response."""
    server = make(command)
    try:
        reply, round = server.open(method, params, version, width)
        if b'"result"' not in reply:
            raise RuntimeError(f"{reply[:200]!r}")
    except BaseException:
        server.stop()
        raise

    def rounds():
        for _ in range(repeats):
            round()

    return server, rounds, len(reply)


def timed(server, rounds):
    before = server.cpu()
    rounds()
    return server.cpu() - before


def measure(servers, make, method, params, version, width, count):
    """Microseconds on the CPU for each request and turn, and the bytes of a response, of each server."""
    measured, sizes = {}, {}
    repeats = max(count // width // BATCHES, 1)
    for _ in range(ROUNDS):
        running = {}
        try:
            for name in ("ours", "plain"):
                running[name] = open_one(make, servers[name], method, params, version, width, repeats)
                sizes[name] = running[name][2]
                running[name][1]()
            cpu = dict.fromkeys(running, 0.0)
            # In small turns: what disturbs one of them disturbs both.
            for _ in range(BATCHES):
                for name, (server, rounds, _) in running.items():
                    cpu[name] += timed(server, rounds)
        finally:
            for server, *_ in running.values():
                server.stop()
        for name, time in cpu.items():
            measured.setdefault(name, []).append(time / BATCHES / repeats / width * 1e6)
    repeats = max(count // width // 10, 2)
    for name in sorted(servers.keys() - measured.keys()):
        for _ in range(3):
            try:
                server, rounds, sizes[name] = open_one(make, servers[name], method, params, version, width, repeats)
                try:
                    rounds()
                    measured.setdefault(name, []).append(timed(server, rounds) / repeats / width * 1e6)
                finally:
                    server.stop()
            except (RuntimeError, OSError, TypeError) as error:
                print(f"  without {name}: {str(error)[:120]}")
                break
    return measured, sizes


def judge(title, ratio, bound):
    text = f"{ratio:.2f} × plain, bound {bound}"
    if ratio > bound:
        MISSED.append(f"{title}: {text}")
        text += ": MISSED"
    return text


def spread(values):
    return f"{statistics.median(values):.1f} ({min(values):.1f}–{max(values):.1f})"


def row(title, measured, sizes, bound, size_bound=None):
    ratio = statistics.median(a / b for a, b in zip(measured["ours"], measured["plain"]))
    print(f"{title:<34}{judge(title, ratio, bound)}")
    for name, values in measured.items():
        print(f"    {name:<10}{spread(values)} µs cpu, {sizes[name]} B")
    if size_bound:
        print(f"    bytes: {judge(title + ' bytes', sizes['ours'] / sizes['plain'], size_bound)}")
    sys.stdout.flush()


def start(servers):
    """Milliseconds on the CPU from the start of a process to its first answer."""
    title = "start of the stdio server"
    if ONLY not in title:
        return
    measured = {name: [] for name in servers}
    for turn in range(60):
        for name, command in servers.items():
            if name not in ("ours", "plain") and turn >= 3:
                continue
            server = Lines(command)
            server.ask(message("initialize", CLIENT))
            measured[name].append(server.cpu() * 1000)
            server.stop()
    ratio = statistics.median(a / b for a, b in zip(measured["ours"], measured["plain"]))
    print(f"{title:<34}{judge(title, ratio, 1.1)}")
    for name, values in measured.items():
        values = sorted(values)[: max(len(values) * 9 // 10, 1)]
        print(f"    {name:<10}{statistics.median(values):.2f} ({values[0]:.2f}–{values[-1]:.2f}) ms cpu")


def memory(servers):
    """MiB of a process, with 1,000 sessions and after calls: all of it, and without what files hold, such as its code."""
    for title, sessions, calls in [
        ("memory after 1,000 sessions", 1000, 0),
        ("memory after 1,000 calls, HTTP", 1, 1000),
    ]:
        if ONLY not in title:
            continue
        used, allocated = {}, {}
        for name, command in servers.items():
            server = None
            try:
                server = Http(command)
                connection = Connection(server.port)
                for _ in range(sessions):
                    connection.new_session()
                request = connection.request("tools/call", ADD, OLD)
                for _ in range(calls):
                    connection.ask(request)
                used[name] = server.memory() / 2**20
                allocated[name] = server.memory("Anonymous") / 2**20
            except (RuntimeError, OSError, TypeError) as error:
                print(f"  without {name}: {str(error)[:120]}")
            finally:
                if server:
                    server.stop()
        for title, sizes in [(title, used), (f"{title}, allocated", allocated)]:
            print(f"{title:<34}{judge(title, sizes['ours'] / sizes['plain'], 1.1)}")
            print("    " + ", ".join(f"{name} {size:.2f} MiB" for name, size in sizes.items()), flush=True)


def flat(command, count=200_000):
    """The memory of our server after the first tenth of many calls, and at the end."""
    for version in [OLD, NEW]:
        for transport, make in [("stdio", Lines), ("http", Http)]:
            title = f"{count:,} calls, {transport} {version}"
            if ONLY not in title:
                continue
            server = make(command(transport, 1))
            width = 64
            _, round = server.open("tools/call", ADD, version, width)
            for _ in range(count // width // 10):
                round()
            before = server.memory()
            for _ in range(count // width * 9 // 10):
                round()
            after = server.memory()
            server.stop()
            text = f"{before / 2**20:.1f} → {after / 2**20:.1f} MiB"
            if after > before * 1.05 + 2**19:
                MISSED.append(f"{title}: {text}")
                text += ": MISSED"
            print(f"{title:<34}{text}", flush=True)


def main():
    ours, plain, *others = sys.argv[1:]
    commands = {"ours": [ours], "plain": [plain]}
    for other in others:
        name, _, command = other.partition("=")
        commands[name] = shlex.split(command)

    def servers(transport, tools):
        return {name: [*command, transport, str(tools)] for name, command in commands.items()}

    for version in [OLD, NEW]:
        for transport, make in [("stdio", Lines), ("http", Http)]:
            for what, method, params, tools, width, count, bounds in [
                ("call, 1 at a time", "tools/call", ADD, 1, 1, 4000, (1.0,)),
                ("call, 64 at a time", "tools/call", ADD, 1, 64, 6400, (1.0,)),
                ("list of 200", "tools/list", {}, 200, 1, 200, (0.8, 0.8)),
            ]:
                title = f"{transport} {version} {what}"
                if ONLY in title:
                    row(title, *measure(servers(transport, tools), make, method, params, version, width, count), *bounds)
    start(servers("stdio", 1))
    memory(servers("http", 1))
    flat(lambda transport, tools: servers(transport, tools)["ours"])
    for missed in MISSED:
        print(f"missed: {missed}")
    sys.exit(1 if MISSED else 0)


if __name__ == "__main__":
    main()
