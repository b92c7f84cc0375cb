"""What the tests of the chat host share: a home, a bridge as a process, an agent that writes down each start."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback

import botapi

AGENT = """#!/usr/bin/env python3
# An agent for tests: writes down that it was started and with what, then does what the prompt says.
import os, sys, time, json, subprocess
prompt = sys.stdin.read() if not sys.argv[1:] else sys.argv[1]
home = os.environ["HOME"]
with open(home + "/starts", "a") as f:
    f.write(json.dumps({"prompt": prompt, "argv": sys.argv[1:], "run": os.environ.get("ROUX_RUN"),
                        "cwd": os.getcwd(), "env": dict(os.environ)}) + "\\n")
words = prompt.split()
say = "answer to: " + prompt
i = 0
while i < len(words):
    if words[i] == "WAIT":  # until a file is there
        while not os.path.exists(home + "/" + words[i + 1]):
            time.sleep(0.02)
    elif words[i] == "FAIL":
        print("something broke", file=sys.stderr)
        sys.exit(3)
    elif words[i] == "SAY":
        say = open(home + "/" + words[i + 1]).read()
    elif words[i] == "STREAM":
        for n in range(int(words[i + 1])):
            print(f"line {n}", flush=True)
            time.sleep(0.1)
        say = "the end"
    elif words[i] == "FLOOD":
        for n in range(int(words[i + 1])):
            sys.stdout.write(f"line {n} " + "x" * 90 + "\\n")
        sys.stdout.flush()
    elif words[i] == "ATTACH":
        r = subprocess.run([os.environ["ROUX"], "telegram", "attach", home + "/" + words[i + 1]],
                           capture_output=True, text=True)
        say = f"attached {r.returncode} {r.stdout}{r.stderr}"
    i += 1
print(say)
with open(home + "/ends", "a") as f:
    f.write(json.dumps(prompt) + "\\n")
"""


class Home:
    """A home of its own for one test, with a service and a configuration."""

    def __init__(self, roux, agent=True, paired=True, cwd=".", **config):
        self.roux = os.path.abspath(roux)
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="roux-telegram-"))
        self.cwd = self.dir / cwd  # of the bridge
        self.cwd.mkdir(exist_ok=True)
        self.server = botapi.Server()
        self.agent_dir = self.dir / "agent"
        self.agent_dir.mkdir()
        self.config = self.agent_dir / "telegram.json"
        self.bridges = []
        agent_script = self.dir / "agent.py"
        agent_script.write_text(AGENT)
        agent_script.chmod(0o755)
        self.env = {"PATH": os.environ["PATH"], "HOME": str(self.dir), "PI_CODING_AGENT_DIR": str(self.agent_dir),
                    "ROUX_STATE_DIR": str(self.dir / "state"), "LC_ALL": "C.UTF-8", "ROUX": self.roux,
                    **{k: v for k, v in os.environ.items() if k.startswith(("ASAN_", "UBSAN_", "LSAN_"))}}
        if config.pop("setup", True):
            document = {"botToken": botapi.TOKEN, "botUsername": "roux_test_bot", "botId": 4711,
                        "apiUrl": self.server.url, "lastUpdateId": 999, "preview": {"mode": "off"}, **config}
            if agent:
                document.setdefault("agent", {"template": f"{agent_script}"})
            if paired:
                document["allowedUserId"] = 7
            self.config.write_text(json.dumps(document))

    def run(self, *words, stdin="", env=None, check=False):
        done = subprocess.run([self.roux, "telegram", *words], env={**self.env, **(env or {})}, input=stdin,
                              capture_output=True, text=True, cwd=self.dir, timeout=600)
        if check:
            assert done.returncode == 0, (words, done)
        return done

    def connect(self, *words, env=None):
        """A bridge in the foreground, which polls when this returns."""
        polls = len(self.server.offsets)
        log = open(self.dir / "bridge.log", "a")
        process = subprocess.Popen([self.roux, "telegram", "connect", *words], env={**self.env, **(env or {})},
                                   stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.cwd)
        log.close()
        self.bridges.append(process)
        self.server.wait(lambda: len(self.server.offsets) > polls or process.poll() is not None)
        assert process.poll() is None, (process.returncode, self.log())
        return process

    def stop(self, process, how=signal.SIGTERM):
        process.send_signal(how)
        return process.wait(120)

    def log(self):
        path = self.dir / "bridge.log"
        return path.read_text() if path.exists() else ""

    def starts(self):
        path = self.dir / "starts"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def prompts(self):
        return [s["prompt"] for s in self.starts()]

    def status(self):
        return json.loads(self.run("status", "--json", check=True).stdout)

    def until(self, what, seconds=float(os.environ.get("ROUX_TELEGRAM_WAIT", 300))):
        end = time.monotonic() + seconds
        while not (value := what()):
            crashed = [p.returncode for p in self.bridges if p.poll() in (-signal.SIGABRT, -signal.SIGSEGV)]
            assert not crashed, (crashed, self.log())
            if time.monotonic() > end:
                raise AssertionError(f"waited {seconds} s in vain; the chat shows {self.server.texts()}; {self.log()}")
            time.sleep(0.05)
        return value

    def touch(self, name):
        (self.dir / name).touch()

    def close(self, clean=True):
        for process in self.bridges:
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
                try:
                    process.wait(60)
                except subprocess.TimeoutExpired:
                    process.kill()
        # A turn outlives its bridge: what still waits for something is ended.
        self.run("disconnect", "--abort")
        self.server.close()
        assert not self.server.wrong, self.server.wrong
        assert "Sanitizer" not in self.log() and "runtime error" not in self.log(), self.log()
        if clean:
            shutil.rmtree(self.dir, ignore_errors=True)


def main(tests, roux, only=()):
    """Runs the tests, functions that take a way to make a home, and prints TAP."""
    print(f"1..{len(tests)}", flush=True)
    failed = 0
    for number, test in enumerate(tests, 1):
        name = test.__name__.replace("_", " ")
        if only and test.__name__ not in only:
            print(f"ok {number} - {name} # SKIP not asked for", flush=True)
            continue
        homes = []

        def home(**how):
            homes.append(Home(roux, **how))
            return homes[-1]

        try:
            test(home)
            for h in homes:
                h.close()
            print(f"ok {number} - {name}", flush=True)
        except Exception:
            failed += 1
            print(f"not ok {number} - {name}", flush=True)
            for line in traceback.format_exc().splitlines():
                print("#", line)
            for h in homes:
                for line in h.log().splitlines()[-30:]:
                    print("# log:", line)
                try:
                    h.close(clean=False)
                    print("# kept in", h.dir)
                except Exception as e:
                    print("#", e)
    return 1 if failed else 0
