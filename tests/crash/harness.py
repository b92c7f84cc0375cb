"""What the crash tests share: TAP, a place of its own for every trial, and roux in it.

Whatever a trial starts carries MARK in its environment, so that it can be found and ended by its id.
"""

import atexit
import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROUX = os.environ["ROUX"]
SUPPORT = os.environ["SUPPORT"]
AT_CALL = os.environ["AT_CALL"]
LONG = bool(os.environ.get("ROUX_TEST_LONG"))
SANITIZED = bool(os.environ.get("SANITIZED"))
PATIENCE = 300  # seconds; only a test that has gone wrong waits so long


# -- TAP ---------------------------------------------------------------------------------------------

_number = 0
_failed = 0


class Failed(Exception):
    pass


class Skip(Exception):
    pass


def say(text):
    for line in str(text).splitlines():
        print("#", line)
    sys.stdout.flush()


def test(function):
    """Runs it at once; its docstring is its name, what it returns is added to it."""
    global _number, _failed
    words = os.environ.get("ONLY")
    name = " ".join(function.__doc__.split())
    if words and words not in name:
        return function
    _number += 1
    try:
        more = function()
    except Skip as why:
        print(f"ok {_number} - {name} # SKIP {why}")
    except Failed as why:
        _failed += 1
        print(f"not ok {_number} - {name}")
        say(why)
    except Exception:  # a harness that breaks is a failure, with its place
        import traceback

        _failed += 1
        print(f"not ok {_number} - {name}")
        say(traceback.format_exc())
    else:
        print(f"ok {_number} - {name}" + (f": {more}" if more else ""))
    sys.stdout.flush()
    return function


def finish():
    print(f"1..{_number}")
    sys.exit(1 if _failed else 0)


def require(truth, *what):
    if not truth:
        raise Failed("\n".join(str(w) for w in what))


def same(found, expected, *what):
    if found != expected:
        raise Failed("\n".join([*map(str, what), f"expected: {expected!r}", f"found:    {found!r}"]))


# -- processes ---------------------------------------------------------------------------------------


def stat_of(pid):
    """The fields after the name; None when there is no such process."""
    try:
        with open(f"/proc/{pid}/stat") as f:
            return f.read().rpartition(")")[2].split()
    except OSError:
        return None


def lives(pid):
    fields = stat_of(pid)
    return fields is not None and fields[0] not in "ZX"


def until(condition, what="it", patience=PATIENCE):
    end = time.monotonic() + patience
    while True:
        found = condition()
        if found:
            return found
        if time.monotonic() > end:
            raise Failed(f"never came true: {what}")
        time.sleep(0.002)


def marked(entry):
    """The pids of living processes with this NAME=VALUE in their environment."""
    found = []
    for name in os.listdir("/proc"):
        if not name.isdigit() or int(name) == os.getpid():
            continue
        try:
            with open(f"/proc/{name}/environ", "rb") as f:
                if os.fsencode(entry) in f.read().split(b"\0") and lives(name):
                    found.append(int(name))
        except OSError:
            pass
    return found


def kill(pid, sig=signal.SIGKILL):
    try:
        os.kill(pid, sig)
    except ProcessLookupError:
        pass


# -- a place -----------------------------------------------------------------------------------------

_places = []


class Answer:
    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err

    @property
    def json(self):
        try:
            return json.loads(self.out)
        except ValueError:
            raise Failed(f"no JSON: {self.out!r}\n{self.err}")

    def __repr__(self):
        return f"exit {self.code}\nstdout: {self.out!r}\nstderr: {self.err}"


class Place:
    """A home, a state root and a working directory."""

    def __init__(self, state=None, made=False):
        """`made`: the run that tests call `it` is not given that name, but one that roux makes."""
        self.made = made
        self.base = tempfile.mkdtemp(prefix="roux-crash.")
        _places.append(self)
        self.work = os.path.join(self.base, "work")
        self.state = state or os.path.join(self.base, "state")
        for name in ("work", "home", "tmp"):
            os.mkdir(os.path.join(self.base, name))
        self.mark = "MARK=" + self.base
        self.env = {
            **{k: v for k, v in os.environ.items() if not k.startswith("ROUX_") and k != "ONLY"},
            "HOME": os.path.join(self.base, "home"),
            "TMPDIR": os.path.join(self.base, "tmp"),
            "MARK": self.base,
            "ROUX_STATE_DIR": self.state,
            "PATH": SUPPORT + ":" + os.environ["PATH"],
            "NO_COLOR": "1",
        }
        for name in ("XDG_CONFIG_HOME", "PI_CODING_AGENT_DIR"):
            self.env.pop(name, None)

    def named(self, run):
        """The newest of those whose name was made, in place of `it`."""
        if not self.made or run != "it":
            return run
        runs = os.path.join(self.state, "runs")
        found = [e for e in os.scandir(runs) if e.name.startswith("run-")] if os.path.isdir(runs) else []
        return max(found, key=lambda e: e.stat().st_mtime_ns).name if found else run

    def said(self, words):
        words = [*words]
        if self.made and words[0] == "run" and "it" in words and words[words.index("it") - 1] == "--as":
            del words[words.index("it") - 1 : words.index("it") + 1]
        return [self.named(w) for w in words]

    def popen(self, *words, env=None, before=(), **more):
        options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        return subprocess.Popen(
            [*before, ROUX, *self.said(words)], cwd=self.work, env={**self.env, **(env or {})}, **{**options, **more}
        )

    def roux(self, *words, env=None, text=True, before=(), **more):
        options = {"stdin": subprocess.DEVNULL} if "input" not in more else {}
        done = subprocess.run(
            [*before, ROUX, *self.said(words)],
            cwd=self.work,
            env={**self.env, **(env or {})},
            capture_output=True,
            **{"timeout": PATIENCE, **options, **more},
        )
        out = done.stdout.decode("utf-8", "surrogateescape") if text else done.stdout
        return Answer(done.returncode, out, done.stderr.decode("utf-8", "surrogateescape"))

    def ok(self, *words, code=0, **more):
        answer = self.roux(*words, **more)
        require(answer.code == code, f"expected exit {code}: roux {' '.join(map(str, words))}", answer)
        return answer

    def tracer(self, number, what):
        return [AT_CALL, self.state, os.path.join(self.base, "calls"), str(number), what]

    def at_call(self, number, what, *words, **more):
        answer = self.roux(*words, before=self.tracer(number, what), **more)
        require(answer.code not in (98, 99), "at-call cannot work here", answer)
        return answer

    def calls(self):
        with open(os.path.join(self.base, "calls")) as f:
            return [line.rstrip("\n").split(" ", 2)[1:] for line in f]

    def path(self, *names):
        return os.path.join(self.work, *names)

    def dir(self, run, *names):
        return os.path.join(self.state, "runs", self.named(run), *names)

    def read(self, run, *names):
        with open(self.dir(run, *names), encoding="utf-8", errors="surrogateescape") as f:
            return f.read()

    def document(self, run, name):
        return json.loads(self.read(run, name))

    def records(self, run, name="leaves.jsonl"):
        """The complete lines of a file of lines; what a crash cut off is left out."""
        try:
            text = self.read(run, name)
        except FileNotFoundError:
            return []
        return [json.loads(line) for line in text.split("\n")[:-1]]

    def lines(self, name="lines"):
        try:
            with open(self.path(name)) as f:
                return f.read().splitlines()
        except FileNotFoundError:
            return []

    def left(self):
        return marked(self.mark)

    def hanging(self):
        """What those do that are left, for a test that waits in vain."""
        said = []
        for pid in self.left():
            try:
                words = open(f"/proc/{pid}/cmdline").read().replace("\0", " ")
                files = [os.readlink(f"/proc/{pid}/fd/{n}") for n in os.listdir(f"/proc/{pid}/fd")]
                said.append(f"{pid} (child of {stat_of(pid)[1]}): {words}\n  in {open(f'/proc/{pid}/wchan').read()}; {', '.join(files)}")
            except OSError:
                continue
            if shutil.which("gdb"):
                seen = subprocess.run(["gdb", "-p", str(pid), "-batch", "-ex", "bt 25"], capture_output=True, text=True, timeout=PATIENCE)
                said += [line for line in seen.stdout.splitlines() if line.startswith("#")]
        with open("/proc/locks") as f:
            return "\n".join([*said, f.read()])

    def unlocked(self):
        """Waits until no supervisor is left; what its commands have started may be."""
        runs = os.path.join(self.state, "runs")
        for name in os.listdir(runs) if os.path.isdir(runs) else []:
            lock = os.path.join(runs, name, ".alive")
            if os.path.exists(lock):
                with open(lock) as f:
                    fcntl.flock(f, fcntl.LOCK_SH)

    def gone(self):
        """Waits until nothing that it has started is left and all locks are free: a process that was killed
        holds its own until the kernel has taken it apart."""
        until(lambda: not self.left(), "nobody is left")
        self.unlocked()

    def done(self):
        for _ in range(20):
            left = self.left()
            if not left:
                break
            for pid in left:
                kill(pid)
            time.sleep(0.02)
        shutil.rmtree(self.base, ignore_errors=True)
        if self in _places:
            _places.remove(self)

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        if isinstance(value, Failed) and os.environ.get("KEEP"):
            say(f"kept: {self.base}")
            _places.remove(self)
            return
        self.done()


@atexit.register
def _clean_up():
    for place in list(_places):
        place.done()


def settled(result):
    """A result document without what differs from run to run."""
    doc = {k: v for k, v in result.items() if k not in ("ms", "run", "ended", "stdout_path", "generation")}
    doc["branches"] = [{k: v for k, v in b.items() if k != "ms"} for b in doc.get("branches") or []]
    doc["failures"] = sorted(doc.get("failures") or [], key=lambda f: (f["path"], f["attempt"]))
    return doc
