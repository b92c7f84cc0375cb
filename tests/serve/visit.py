"""Visits of the dashboard: documents, orders and streams of a server in a home of its own."""

import html.parser
import json
import pathlib
import socket
import threading
import time
import urllib.parse

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


class Form(html.parser.HTMLParser):
    """The form with class `act` of a page: what stands in it, and what a browser sends of it."""

    def __init__(self, page):
        super().__init__()
        self.action, self.fields, self.inside, self.text = None, [], False, None
        self.feed(page.decode())
        expect(self.action, "the page has no form", page[-1500:])

    def handle_starttag(self, tag, attributes):
        a = dict(attributes)
        if tag == "form" and a.get("class") == "act":
            self.action, self.inside = a["action"], True
        if not self.inside:
            return
        if tag == "input" and a.get("name"):
            kind = a.get("type", "text")
            self.fields.append([a["name"], kind, a.get("value", "on" if kind == "checkbox" else ""), kind != "checkbox" or "checked" in a])
        elif tag == "select":
            self.fields.append([a["name"], "select", None, False])
        elif tag == "option" and (not self.fields[-1][3] or "selected" in a):
            self.fields[-1][2:] = [a.get("value"), "selected" in a or self.fields[-1][2] is None]
        elif tag == "textarea":
            self.fields.append([a["name"], "textarea", "", True])
            self.text = self.fields[-1]

    def handle_endtag(self, tag):
        self.text = None if tag == "textarea" else self.text
        self.inside = self.inside and tag != "form"

    def handle_data(self, data):
        if self.text:
            # The first line's end is not part of it.
            self.text[2] += data[1:] if not self.text[2] and data.startswith("\n") else data

    def put(self, name, value):
        """A text that is typed, an option that is chosen, a box that is ticked or not."""
        field = [f for f in self.fields if f[0] == name and f[1] != "hidden"]
        expect(len(field) == 1, "no field", name, self.fields)
        field[0][2:] = [field[0][2], value] if field[0][1] == "checkbox" else [value, True]

    def body(self):
        pairs = []
        for name, kind, value, sent in self.fields:
            if kind in ("text", "password", "search"):
                value = value.replace("\r", "").replace("\n", "")
            elif kind == "textarea":
                value = value.replace("\r\n", "\n").replace("\n", "\r\n")
            if sent:
                pairs.append((name, value))
        return "&".join("=".join(urllib.parse.quote_plus(x, safe="*").replace("~", "%7E") for x in pair) for pair in pairs)


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
