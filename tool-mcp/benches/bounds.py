#!/usr/bin/env python3
"""Compares a server with a plain server of rmcp and with FastMCP, with the same client.

    tool-mcp/benches/bounds.py OURS PLAIN [PYTHON]

OURS and PLAIN are the examples `bounds_ours` and `bounds_plain`, built with --release. PYTHON is an interpreter with
FastMCP; without it, only the two are compared. The times of calls are those of the server's process on the CPU
(Linux), which other programs disturb little. The client writes prepared bytes, one request after the other. Rounds
alternate between the servers, and the least time counts.
"""

import json
import os
import pathlib
import re
import socket
import subprocess
import sys
import time

ROUNDS = 5
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "bounds", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
CLIENT = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bounds", "version": "1"}}
ADD = {"name": "add", "arguments": {"a": 2, "b": 3}}
OLD, NEW = "2025-11-25", "2026-07-28"


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

    def memory(self):
        """Bytes of memory that only this process has."""
        text = pathlib.Path(f"/proc/{self.process.pid}/smaps_rollup").read_text()
        kilobytes = re.findall(r"^Private_\w+: +(\d+) kB", text, re.MULTILINE)
        return sum(map(int, kilobytes)) * 1024

    def stop(self):
        self.process.kill()
        self.process.wait()


class Lines(Process):
    """A server on standard input and output."""

    def ask(self, body):
        self.process.stdin.write(body + b"\n")
        parts = []
        while True:
            part = os.read(self.process.stdout.fileno(), 1 << 20)
            if not part:
                raise RuntimeError(f"{self.command} ended")
            parts.append(part)
            if part.endswith(b"\n"):
                return b"".join(parts)

    def initialize(self):
        self.ask(message("initialize", CLIENT))
        self.process.stdin.write(message("notifications/initialized", id=None) + b"\n")

    def request(self, method, params, version):
        return message(method, params, version)


class Http(Process):
    """A server over HTTP, on one connection."""

    def __init__(self, command):
        super().__init__(command)
        url = self.process.stdout.readline().decode()
        self.port = int(re.search(r":(\d+)/", url)[1])
        for _ in range(100):
            try:
                self.socket = socket.create_connection(("127.0.0.1", self.port))
                break
            except ConnectionRefusedError:
                time.sleep(0.1)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.session = ""

    def post(self, body, headers=""):
        return (
            f"POST /mcp HTTP/1.1\r\nhost: 127.0.0.1:{self.port}\r\ncontent-type: application/json\r\n"
            f"accept: application/json, text/event-stream\r\n{self.session}{headers}"
            f"content-length: {len(body)}\r\n\r\n"
        ).encode() + body

    def ask(self, request):
        self.socket.sendall(request)
        received = b""
        while True:
            part = self.socket.recv(1 << 20)
            if not part:
                raise RuntimeError(f"{self.command} closed the connection after {received!r}")
            received += part
            head, separator, rest = received.partition(b"\r\n\r\n")
            if not separator:
                continue
            length = re.search(rb"content-length: (\d+)", head, re.IGNORECASE)
            is_chunked = b"chunked" in head.lower()
            if len(rest) >= int(length[1]) if length else (not is_chunked or rest.endswith(b"0\r\n\r\n")):
                return received

    def new_session(self):
        self.session = ""
        head = self.ask(self.post(message("initialize", CLIENT)))
        self.session = "mcp-session-id: " + re.search(rb"mcp-session-id: (\S+)", head, re.IGNORECASE)[1].decode() + "\r\n"
        self.ask(self.post(message("notifications/initialized", id=None), "mcp-protocol-version: 2025-11-25\r\n"))

    def initialize(self):
        self.new_session()

    def request(self, method, params, version):
        headers = f"mcp-protocol-version: {version}\r\n"
        if version == NEW:
            self.session = ""
            headers += f"mcp-method: {method}\r\n"
            if "name" in params:
                headers += f"mcp-name: {params['name']}\r\n"
        return self.post(message(method, params, version), headers)


def least(servers, make, version, method, params, count):
    """Microseconds on the CPU and in all for each request, and the bytes of a response."""
    best = {}
    for _ in range(ROUNDS):
        for name, command in servers.items():
            server = make(command)
            try:
                # What rmcp serves as 2026-07-28 needs no handshake.
                if version == OLD:
                    server.initialize()
                request = server.request(method, params, version)
                repeats = count if name != "fastmcp" else max(count // 20, 5)
                for _ in range(min(50, repeats)):
                    reply = server.ask(request)
                if b'"result"' not in reply:
                    raise RuntimeError(f"{name}: {reply[:400]!r}")
                cpu, wall = server.cpu(), time.perf_counter()
                for _ in range(repeats):
                    server.ask(request)
                wall, cpu = time.perf_counter() - wall, server.cpu() - cpu
            finally:
                server.stop()
            old = best.get(name, (1e9, 1e9, 0))
            best[name] = (min(old[0], cpu / repeats * 1e6), min(old[1], wall / repeats * 1e6), len(reply))
    return best


def row(title, best):
    cells = [f"{title:<28}"]
    ours = best["ours"]
    for name, (cpu, wall, size) in best.items():
        cells.append(f"{name} {cpu:8.1f} µs cpu, {1e6 / wall:7.0f}/s, {size:6} B")
        if name != "ours":
            cells[-1] += f" (ours: {cpu / ours[0]:.2f} × the speed by cpu, {wall / ours[1]:.2f} by clock)"
    print("\n    ".join(cells), flush=True)


def start(servers):
    """Milliseconds from the start of a process to its first answer, by clock."""
    best = {name: [1e9, 1e9] for name in servers}
    for _ in range(40):
        for name, command in servers.items():
            if name == "fastmcp" and best[name][0] < 1e9:
                continue
            began = time.perf_counter()
            server = Lines(command)
            server.ask(message("initialize", CLIENT))
            wall = time.perf_counter() - began
            best[name] = [min(best[name][0], wall * 1000), min(best[name][1], server.cpu() * 1000)]
            server.stop()
    print("start of the stdio server: " + ", ".join(f"{name} {wall:.2f} ms ({cpu:.2f} ms cpu)" for name, (wall, cpu) in best.items()), flush=True)


def sessions(servers, count=1000):
    for name, command in servers.items():
        server = Http(command)
        made = 0
        try:
            # The first has what all share.
            server.new_session()
            before = server.memory()
            for made in range(count - 1):
                server.new_session()
            used = server.memory() - before
            print(f"{count} sessions: {name} {used / (count - 1) / 1024:.1f} KiB each, {server.memory() / 2**20:.1f} MiB in all", flush=True)
        except (RuntimeError, TypeError) as error:
            print(f"{count} sessions: {name} failed after {made}: {error}", flush=True)
        finally:
            server.stop()


def main():
    ours, plain, *python = sys.argv[1:]
    fast = str(pathlib.Path(__file__).parent / "servers" / "fast.py")

    def servers(transport, tools, with_fast=True):
        commands = {"ours": [ours, transport, str(tools)], "plain": [plain, transport, str(tools)]}
        if python and with_fast:
            commands["fastmcp"] = [python[0], fast, transport, str(tools)]
        return commands

    for version in [OLD, NEW]:
        for transport, make in [("stdio", Lines), ("http", Http)]:
            for title, method, params, tools, count in [
                ("call", "tools/call", ADD, 1, 4000),
                ("list of 200", "tools/list", {}, 200, 100),
            ]:
                try:
                    best = least(servers(transport, tools), make, version, method, params, count)
                except RuntimeError as error:
                    # FastMCP may lack a version.
                    print(f"{transport} {version} {title}: without fastmcp: {str(error)[:200]}")
                    best = least(servers(transport, tools, False), make, version, method, params, count)
                row(f"{transport} {version} {title}", best)
    start(servers("stdio", 1))
    sessions(servers("http", 1))


main()
