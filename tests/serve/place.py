"""A server in a home of its own, and requests to it byte by byte."""

import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading

WATCHDOG = int(os.environ.get("WATCHDOG", "300"))  # seconds: only what hangs takes so long


class Failure(Exception):
    pass


def expect(condition, *what):
    if not condition:
        raise Failure(" ".join(w if isinstance(w, str) else repr(w)[:3000] for w in what))


class Answer:
    def __init__(self, raw, head=False):
        top, found, self.body = raw.partition(b"\r\n\r\n")
        lines = top.decode("latin-1").split("\r\n")
        self.raw = raw
        self.whole = bool(found)
        self.status = int(lines[0].split()[1]) if found else 0
        self.headers = {}
        self.cookies = []
        for line in lines[1:]:
            name, _, value = line.partition(":")
            if name.lower() == "set-cookie":
                self.cookies.append(value.strip())
            self.headers[name.lower()] = value.strip()

    def json(self):
        return json.loads(self.body)

    def __repr__(self):
        return repr(self.raw[:1500])


class Connection:
    """One connection, over which several requests may go."""

    def __init__(self, place, local=False):
        if local:
            self.socket = socket.socket(socket.AF_UNIX)
            self.socket.settimeout(WATCHDOG)
            self.socket.connect(place.socket)
        else:
            self.socket = socket.create_connection(("127.0.0.1", place.port), timeout=WATCHDOG)
        self.rest = b""

    def send(self, data):
        self.socket.sendall(data if isinstance(data, bytes) else data.encode())

    def more(self):
        try:
            piece = self.socket.recv(65536)
        except ConnectionResetError:
            piece = b""
        self.rest += piece
        return bool(piece)

    def answer(self, head=False):
        """The next answer; None: the server has closed the connection."""
        while b"\r\n\r\n" not in self.rest:
            if not self.more():
                return None
        a = Answer(self.rest)
        length = 0 if head or a.status in (204, 304) else int(a.headers.get("content-length", 0))
        top = self.rest.index(b"\r\n\r\n") + 4
        while len(self.rest) < top + length:
            if not self.more():
                break
        a = Answer(self.rest[:top + length])
        self.rest = self.rest[top + length:]
        return a

    def until(self, part):
        while part not in self.rest:
            expect(self.more(), "the connection ended before", part, "after", self.rest[-500:])
        self.rest = self.rest[self.rest.index(part) + len(part):]

    def closed(self):
        """Waits until the server has closed it."""
        while self.more():
            pass
        return True

    def close(self):
        self.socket.close()


class Place:
    def __init__(self, roux, *args, start=True, env=None):
        self.roux = roux
        self.top = pathlib.Path(tempfile.mkdtemp(prefix="roux-serve-"))
        self.home = self.top / "home"
        self.run = self.top / "run"
        self.project = self.top / "project"
        self.recipes = self.home / ".pi/agent/recipes"
        for d in (self.run, self.project, self.recipes):
            d.mkdir(parents=True)
        self.run.chmod(0o700)
        self.env = {"HOME": str(self.home), "PATH": os.environ["PATH"], "LANG": "C.UTF-8",
                    "XDG_RUNTIME_DIR": str(self.run), **{k: v for k, v in os.environ.items() if k.endswith("SAN_OPTIONS")}, **(env or {})}
        self.processes = []
        self.readers = []
        self.said = []  # on standard error, by all servers of this place
        self.cookie = None
        if start:
            self.start(*args)

    # -- the server

    def launch(self, *args, env=None, **more):
        p = subprocess.Popen([self.roux, "serve", *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, cwd=self.project, env={**self.env, **(env or {})}, text=True, **more)
        self.processes.append(p)
        return p

    def start(self, *args, port=0, env=None, **more):
        options = [] if "--listen" in args or port is None else ["--port", str(port)]
        p = self.launch(*options, "--json", *args, env=env, **more)
        line = p.stdout.readline()
        if not line:
            raise Failure("the server did not start: " + p.stderr.read())
        self.document = json.loads(line)
        self.port = self.document["port"]
        self.socket = self.document["socket"]
        self.url = self.document["url"]
        self.name = self.url.split("/")[2].split(":")[0]
        self.host = f"{self.name}:{self.port}"
        self.server = p
        self.errors = []
        reader = threading.Thread(target=self.read_errors, args=(p.stderr, self.errors), daemon=True)
        reader.start()
        self.readers.append(reader)
        return p

    def read_errors(self, stream, errors):
        for line in stream:
            errors.append(line)
            self.said.append(line)

    def command(self, *args, **more):
        return subprocess.run([self.roux, *args], cwd=self.project, env=self.env, capture_output=True, text=True,
                              timeout=WATCHDOG, stdin=subprocess.DEVNULL, **more)

    def state(self):
        return pathlib.Path(self.socket_dir())

    def serve_dir(self):
        found = [p for p in self.home.rglob("serve.lock")]
        return found[0].parent

    def audit(self):
        file = self.serve_dir() / "audit.jsonl"
        return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []

    # -- requests

    def connect(self, local=False):
        return Connection(self, local)

    def raw(self, data, local=False):
        """One request as it is; the answer."""
        c = self.connect(local)
        c.send(data)
        a = c.answer(head=data[:4] in ("HEAD", b"HEAD"))
        c.close()
        return a

    def request(self, method, target, headers=None, body=None, host=None, local=False, connection=None):
        lines = [f"{method} {target} HTTP/1.1", f"Host: {host or self.host}"]
        if body is not None:
            body = body if isinstance(body, bytes) else body.encode()
            lines.append(f"Content-Length: {len(body)}")
        lines += [f"{k}: {v}" for k, v in (headers or {}).items()]
        data = ("\r\n".join(lines) + "\r\n\r\n").encode() + (body or b"")
        if connection:
            connection.send(data)
            return connection.answer(head=method == "HEAD")
        return self.raw(data, local)

    def get(self, target, headers=None, **more):
        return self.request("GET", target, headers, **more)

    def login(self):
        """A browser's session: cookie and csrf."""
        url = self.command("serve", "link").stdout.strip()
        a = self.request("GET", "/login?" + url.partition("?")[2])
        expect(a.status == 200 and a.cookies, "no session:", a)
        self.cookie = {"Cookie": a.cookies[0].split(";")[0]}
        self.csrf = self.request("GET", "/api/v1/", self.cookie).json()["csrf"]
        return self.cookie

    def token(self, name, scopes):
        r = self.command("serve", "token", "add", name, "--scope", scopes)
        expect(r.returncode == 0, r.stderr)
        return {"Authorization": "Bearer " + r.stdout.strip()}

    def close(self):
        for p in self.processes:
            if p.poll() is None:
                p.send_signal(signal.SIGKILL)
            p.wait()
        for r in self.readers:
            r.join(WATCHDOG)
        shutil.rmtree(self.top, ignore_errors=True)
        text = "".join(self.said)
        expect("Sanitizer" not in text and "runtime error:" not in text, "a server has reported:", text)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def main(cases):
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # below nohup a server would ignore it
    wanted = sys.argv[2:]
    chosen = [c for c in cases if not wanted or any(w in c.__name__ for w in wanted)]
    print(f"1..{len(chosen)}", flush=True)
    bad = 0
    for number, c in enumerate(chosen, 1):
        name = c.__name__.replace("_", " ")
        try:
            why = c()
            print(f"ok {number} - {name}" + (f" # SKIP {why}" if why else ""), flush=True)
        except Exception as e:  # a mistake of the test fails it too
            bad += 1
            import traceback
            lines = str(e) if isinstance(e, Failure) else traceback.format_exc()
            print(f"not ok {number} - {name}")
            for line in lines.splitlines():
                print("# " + line)
            where = traceback.extract_tb(e.__traceback__)
            print("# at " + ", ".join(f"{pathlib.Path(f.filename).name}:{f.lineno}" for f in where), flush=True)
    sys.exit(bad > 0)
