"""A client that writes bytes and reads lines: for what no SDK can send. Every message of the server is checked
against the published schema of its revision when the module jsonschema is there."""

import json
import os
import pathlib
import queue
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

MODERN = "2026-07-28"
PREFIX = "io.modelcontextprotocol/"
ROUX = None  # the program; a suite sets it
WATCHDOG = int(os.environ.get("WATCHDOG", "300"))  # seconds: only what hangs takes so long


class Failure(Exception):
    pass


class Skip(Exception):
    """Cannot be shown here, and why."""


# -- the published schemas ------------------------------------------------------------------------

RESULTS = {
    "initialize": ["InitializeResult"], "ping": ["EmptyResult"], "server/discover": ["DiscoverResult"],
    "tools/list": ["ListToolsResult"], "tools/call": ["CallToolResult", "InputRequiredResult"],
    "resources/list": ["ListResourcesResult"], "resources/templates/list": ["ListResourceTemplatesResult"],
    "resources/read": ["ReadResourceResult"], "prompts/list": ["ListPromptsResult"], "prompts/get": ["GetPromptResult"],
    "completion/complete": ["CompleteResult"], "subscriptions/listen": ["SubscriptionsListenResult"],
}
NOTIFICATIONS = {
    "notifications/progress": "ProgressNotification", "notifications/tools/list_changed": "ToolListChangedNotification",
    "notifications/resources/list_changed": "ResourceListChangedNotification",
    "notifications/resources/updated": "ResourceUpdatedNotification", "notifications/cancelled": "CancelledNotification",
    "notifications/subscriptions/acknowledged": "SubscriptionsAcknowledgedNotification",
    "elicitation/create": "ElicitRequest",
}


class Schemas:
    """What a revision of the protocol says about messages; nothing without the corpus or the module."""

    def __init__(self):
        self.known = {}
        try:
            import jsonschema
            self.module = jsonschema
        except ImportError:
            self.module = None
        self.dir = pathlib.Path(__file__).resolve().parents[3] / "shared/corpus/mcp-schema"

    def validators(self, version, names):
        for name in names:
            key = (version, name)
            if key not in self.known:
                file = self.dir / f"{version}.json"
                schema = json.loads(file.read_text()) if self.module and file.exists() else None
                part = "$defs" if schema and "$defs" in schema else "definitions"
                self.known[key] = None
                if schema and name in schema[part]:
                    kind = self.module.Draft202012Validator if part == "$defs" else self.module.Draft7Validator
                    self.known[key] = kind({"$ref": f"#/{part}/{name}", part: schema[part]})
            if self.known[key]:
                yield self.known[key]

    def check(self, version, names, value):
        found = list(self.validators(version, names))
        if found and not any(v.is_valid(value) for v in found):
            error = self.module.exceptions.best_match(found[0].iter_errors(value))
            raise Failure(f"not a {' or '.join(names)} of {version}: {error.message} at {list(error.absolute_path)}: "
                          + json.dumps(value)[:2000])


SCHEMAS = Schemas()


def expect(condition, *what):
    if not condition:
        raise Failure(" ".join(w if isinstance(w, str) else json.dumps(w, ensure_ascii=False)[:3000] for w in what))


def meta(capabilities=None, **more):
    return {PREFIX + "protocolVersion": MODERN, PREFIX + "clientCapabilities": capabilities or {},
            PREFIX + "clientInfo": {"name": "harness", "version": "1"}, **more}


class Place:
    """A home, a project and recipes of their own."""

    def __init__(self):
        self.top = pathlib.Path(tempfile.mkdtemp(prefix="roux-mcp-"))
        self.home = self.top / "home"
        self.project = self.top / "project"
        self.recipes = self.home / ".pi/agent/recipes"
        self.project.mkdir(parents=True)
        self.recipes.mkdir(parents=True)
        self.env = {"HOME": str(self.home), "PATH": os.environ["PATH"], "LANG": "C.UTF-8",
                    **{k: v for k, v in os.environ.items() if k.endswith("SAN_OPTIONS")}}

    def recipe(self, name, body):
        path = self.recipes / name
        temp = self.recipes / ("." + name)
        temp.write_text(body if isinstance(body, str) else json.dumps(body))
        temp.rename(path)
        return path

    def close(self):
        shutil.rmtree(self.top, ignore_errors=True)


class Server:
    """One process of `roux mcp`."""

    def __init__(self, roux, place, *args, env=None, **more):
        self.place = place
        self.process = subprocess.Popen(
            [roux, "mcp", *args], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            cwd=place.project, env={**place.env, **(env or {})}, **more)
        self.lines = queue.Queue()
        self.kept = []
        self.errors = b""
        self.seen = []
        self.asked = {}  # by id: method and revision
        self.version = "2025-11-25"  # of the legacy session
        self.next = 0
        threading.Thread(target=self._read, daemon=True).start()
        threading.Thread(target=self._read_errors, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put(None)

    def _read_errors(self):
        for line in self.process.stderr:
            self.errors += line

    def write(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, message):
        self.write(json.dumps(message).encode() + b"\n")

    def line(self, timeout=WATCHDOG):
        """The next message, None at the end of the output."""
        try:
            line = self.lines.get(timeout=timeout)
        except queue.Empty:
            raise Failure(f"the server says nothing; on standard error: {self.errors.decode(errors='replace')}")
        if line is None:
            return None
        expect(line.endswith(b"\n"), "a line without an end: " + repr(line[:200]))
        message = json.loads(line)
        self.seen.append(message)
        expect(message.get("jsonrpc") == "2.0", "not JSON-RPC:", message)
        self.check(message)
        return message

    def check(self, message):
        method, version = self.asked.get(json.dumps(message.get("id")), (None, None))
        if "method" in message:
            modern = PREFIX + "subscriptionId" in message.get("params", {}).get("_meta", {})
            name = NOTIFICATIONS.get(message["method"])
            if name:
                SCHEMAS.check(MODERN if modern else self.version, [name], message)
        elif "error" in message:
            SCHEMAS.check(MODERN, ["JSONRPCErrorResponse"], message)
        elif method in RESULTS and message["result"].get("resultType") != "task":
            SCHEMAS.check(version, RESULTS[method], message["result"])

    def nothing(self, seconds=0.3):
        try:
            line = self.lines.get(timeout=seconds)
        except queue.Empty:
            return
        raise Failure(f"unexpected: {line!r}")

    def wait(self, wanted, timeout=WATCHDOG):
        """The next message that `wanted` takes; the others are kept for later."""
        for i, message in enumerate(self.kept):
            if wanted(message):
                return self.kept.pop(i)
        while True:
            message = self.line(timeout)
            expect(message is not None, "the server has ended:", self.errors.decode(errors="replace"))
            if wanted(message):
                return message
            self.kept.append(message)

    def answer(self, id, timeout=WATCHDOG):
        return self.wait(lambda m: m.get("id") == id and "method" not in m, timeout)

    def request(self, method, params=None, id=None):
        self.next += 1
        id = id if id is not None else self.next
        modern = PREFIX + "protocolVersion" in ((params or {}).get("_meta") or {})
        self.asked[json.dumps(id)] = (method, MODERN if modern else self.version)
        self.send({"jsonrpc": "2.0", "id": id, "method": method, **({} if params is None else {"params": params})})
        return id

    def ask(self, method, params=None, timeout=WATCHDOG):
        return self.answer(self.request(method, params), timeout)

    def notify(self, method, params=None):
        self.send({"jsonrpc": "2.0", "method": method, **({} if params is None else {"params": params})})

    def end(self):
        """Closes the input; the exit status."""
        if not self.process.stdin.closed:
            self.process.stdin.close()
        return self.process.wait(WATCHDOG)

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()


class Client:
    """What both eras share: requests with their envelope."""

    def __init__(self, server, modern, capabilities=None, version="2025-11-25"):
        self.server, self.modern = server, modern
        self.capabilities = capabilities or {}
        if not modern:
            server.version = version
            a = server.ask("initialize", {"protocolVersion": version, "capabilities": self.capabilities,
                                          "clientInfo": {"name": "harness", "version": "1"}})
            expect(a["result"]["protocolVersion"] == version, "version:", a)
            server.notify("notifications/initialized")

    def params(self, params=None, **more):
        params = dict(params or {})
        if self.modern:
            params["_meta"] = {**meta(self.capabilities), **more, **params.get("_meta", {})}
        elif more:
            params["_meta"] = {**more, **params.get("_meta", {})}
        return params

    def begin(self, method, params=None, **more):
        return self.server.request(method, self.params(params, **more))

    def ask(self, method, params=None, **more):
        return self.server.answer(self.begin(method, params, **more))

    def result(self, method, params=None, **more):
        a = self.ask(method, params, **more)
        expect("result" in a, f"{method} failed:", a)
        if self.modern:
            expect("resultType" in a["result"], "no resultType:", a)
            expect(a["result"]["_meta"][PREFIX + "serverInfo"]["name"] == "roux", "no serverInfo:", a)
        else:
            expect("resultType" not in a["result"], "a modern envelope:", a)
        return a["result"]

    def call(self, name, arguments=None, **more):
        return self.result("tools/call", {"name": name, "arguments": arguments or {}}, **more)


def text_of(result):
    return result["content"][0]["text"]


def facts_of(result):
    return result["_meta"]["dev.roux/run"]


def until(condition, what, seconds=WATCHDOG):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.02)
    raise Failure(what)


def alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as f:
            return f.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


class World:
    """A place with recipes and servers that end with the case."""

    def __init__(self, **recipes):
        self.place = Place()
        self.servers = []
        for name, body in recipes.items():
            self.recipe(name, body)

    def recipe(self, name, body):
        end = ".json" if not isinstance(body, str) else ".yaml" if "steps:" in body or "stages:" in body else ".md"
        return self.place.recipe(name + end, body)

    def server(self, *args, **more):
        server = Server(ROUX, self.place, *args, **more)
        self.servers.append(server)
        return server

    def clients(self, *args, capabilities=None, **more):
        """A client of each era, on a server of its own."""
        for modern in (False, True):
            yield Client(self.server(*args, **more), modern, capabilities)

    def __enter__(self):
        return self

    def __exit__(self, failed, *_):
        """Nothing outlives a case: not the servers, and not the runs that outlived them."""
        try:
            for s in self.servers:
                if failed or s.process.poll() is not None:
                    s.kill()
                else:
                    expect(s.end() == 0, "the server ends with", s.process.returncode, s.errors.decode(errors="replace"))
                expect(b"Sanitizer" not in s.errors and b"runtime error" not in s.errors, s.errors.decode(errors="replace"))
        finally:
            for s in self.servers:
                s.kill()
        try:
            self.end_runs()
            if not failed:
                until(lambda: not self.processes(), f"the case leaves processes behind: {self.processes()}")
        finally:
            self.place.close()

    def end_runs(self):
        def roux(*words):
            return subprocess.run([ROUX, *words], cwd=self.place.top, env=self.place.env, capture_output=True, text=True, timeout=WATCHDOG)
        if not (self.place.home / ".pi/agent/roux/ledger.db").exists():
            return
        for run in json.loads(roux("runs", "--json").stdout)["runs"]:
            if run["status"] in ("running", "starting"):
                roux("kill", run["run"])

    def processes(self):
        """Those that work below this place, with what they are."""
        found = []
        for entry in pathlib.Path("/proc").iterdir():
            try:
                if entry.name.isdigit() and os.readlink(entry / "cwd").startswith(str(self.place.top)):
                    found.append((entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace"))
            except OSError:
                pass
        return found


def sh(script, **more):
    return {"template": "sh -c " + json.dumps(script, ensure_ascii=False), **more}


def feed(w):
    """Lets the command continue that waits at the FIFO, when there is one."""
    def try_it():
        try:
            fd = os.open(w.place.project / "gate", os.O_WRONLY | os.O_NONBLOCK)
        except OSError:
            return False
        os.write(fd, b"go\n")
        os.close(fd)
        return True
    until(try_it, "no command waits at the gate")


ECHO = {"description": "says it again", "args": ["message"], "template": "echo {message}"}


def run_cases(cases, select):
    """Prints TAP. Exit status 1 when one failed."""
    chosen = [c for c in cases if not select or any(s in c.__name__ for s in select)]
    print(f"1..{len(chosen)}")
    bad = False
    for number, case in enumerate(chosen, 1):
        name = case.__name__.replace("_", " ")
        try:
            case()
            print(f"ok {number} - {name}", flush=True)
        except Skip as e:
            print(f"ok {number} - {name} # SKIP {e}", flush=True)
        except BaseException as e:
            if isinstance(e, KeyboardInterrupt):
                raise
            bad = True
            print(f"not ok {number} - {name}", flush=True)
            import traceback
            where = traceback.extract_tb(e.__traceback__)
            at = [f"{f.name}:{f.lineno}" for f in where if f.filename.endswith(("stdio", "calls", "harness.py"))]
            for line in f"{type(e).__name__}: {e} ({' '.join(at)})".split("\n"):
                print(f"# {line}", flush=True)
    return 1 if bad else 0
