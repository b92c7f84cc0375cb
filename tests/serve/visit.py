"""Visits of the dashboard: documents, orders and streams of a server in a home of its own."""

import json
import pathlib
import socket
import threading
import time

from place import Connection, Place, WATCHDOG, expect

GATED = """name: gated
version: 1.0.0
description: asks
stages:
  - name: build
    steps:
      - id: make
        type: bash
        command: echo made
    approval:
      required: true
      prompt: Ship it?
  - name: ship
    steps:
      - id: ship
        type: bash
        command: echo shipped
"""


class Site(Place):
    """Requests over the socket: no session, no rates."""

    def get(self, target, headers=None, **more):
        return self.request("GET", target, headers, local=True, **more)

    def doc(self, target, status=200):
        a = self.get(target)
        expect(a.status == status, target, "is", a.status, a.body)
        return a.json()

    def post(self, target, document, status=200, headers=None):
        a = self.request("POST", target, {"Content-Type": "application/json", **(headers or {})}, json.dumps(document), local=True)
        expect(a.status == status, target, "is", a.status, a.body)
        return a.json()

    def cli(self, *words):
        r = self.command(*words, "--json")
        return json.loads(r.stdout)

    def add(self, name, document):
        (self.recipes / name).write_text(document if isinstance(document, str) else json.dumps(document))

    def until(self, what, text):
        end = time.monotonic() + WATCHDOG
        while True:
            value = what()
            if value:
                return value
            expect(time.monotonic() < end, "waited in vain:", text)
            time.sleep(0.05)

    def ended(self, run):
        return self.until(lambda: self.cli("status", run)["status"] != "running", run + " ends")

    def dir_of(self, run):
        return pathlib.Path(self.cli("status", run)["dir"])


class Stream:
    """Events of a topic, read by a thread."""

    def __init__(self, place, query, last=None, cookie=None):
        self.connection = Connection(place, local=not cookie)
        self.events, self.bytes = [], b""
        head = f"GET /api/v1/events?{query} HTTP/1.1\r\nHost: {place.host if cookie else 'roux'}\r\n"
        for name, value in (cookie or {}).items():
            head += f"{name}: {value}\r\n"
        if last:
            head += f"Last-Event-ID: {last}\r\n"
        self.connection.send(head + "\r\n")
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        text = b""
        while True:
            try:
                piece = self.connection.socket.recv(65536)
            except OSError:
                return
            if not piece:
                return
            text += piece
            self.bytes += piece
            while b"\n\n" in text:
                block, _, text = text.partition(b"\n\n")
                one = {}
                for line in block.decode("utf-8", "replace").splitlines():
                    name, _, value = line.partition(": ")
                    one[name] = value
                if "event" in one:
                    one["data"] = json.loads(one.get("data", "null"))
                    self.events.append(one)

    def of(self, kind):
        return [e for e in self.events if e["event"] == kind]

    def close(self):
        """The reader ends first: it would wait on whatever gets the number of a descriptor that is closed under it."""
        try:
            self.connection.socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass  # the server was faster
        self.reader.join()
        self.connection.close()
