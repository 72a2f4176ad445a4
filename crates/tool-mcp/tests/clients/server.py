"""Starts the server under test, for the clients in Python."""

import os
import socket
import subprocess
import time


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class HttpServer:
    """A server on one port, which can end and start again."""

    def __init__(self, program):
        self.program = program
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}/mcp"
        self.start()

    def start(self):
        environment = dict(os.environ, PORT=str(self.port))
        for _ in range(50):
            self.process = subprocess.Popen(
                [self.program], env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            )
            # The URL is printed once the server listens.
            if self.process.stdout.readline():
                return
            time.sleep(0.1)
        raise RuntimeError("the server does not start")

    def kill(self):
        self.process.kill()
        self.process.wait()

    def restart(self):
        self.kill()
        self.start()
