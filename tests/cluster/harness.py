"""A run with a batch system of tests beside it: directories, configuration, calls of roux, events."""
import json, os, shutil, signal, subprocess, sys, tempfile, time

HERE = os.path.dirname(os.path.abspath(__file__))
STAND_IN = [sys.executable, "-IS", os.path.join(HERE, "stand-in")]
AT_CALL = os.environ.get("AT_CALL", "")  # tests/crash/at-call.c, where it is built
PATIENCE = int(os.environ.get("PATIENCE", "400"))  # seconds: only what hangs takes so long


class Failed(Exception):
    pass


def need(ok, why):
    if not ok:
        raise Failed(why)


def until(what, test, seconds=PATIENCE):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        got = test()
        if got:
            return got
        time.sleep(0.02)
    raise Failed(f"waited in vain for {what}")


def alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as f:
            return f.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def place(w, run="a"):
    return os.path.join(w.root, ".pi/agent/roux/runs", run)


def read(*parts):
    try:
        with open(os.path.join(*parts), encoding="utf-8", errors="replace") as f:
            return f.read()
    except OSError:
        return ""


class World:
    """One user with a home, a working directory and the stand-in; `scale` makes leases faster."""

    def __init__(self, roux, scale=20, config=("cpus = 2", "workers = 2"), executor="stand-in"):
        self.roux, self.root, self.executor = roux, tempfile.mkdtemp(prefix="roux-cluster-"), executor
        self.work, self.bs = os.path.join(self.root, "work"), os.path.join(self.root, "bs")
        os.makedirs(self.work)
        os.makedirs(os.path.join(self.root, "cfg/roux"))
        self.env = {"PATH": os.environ["PATH"], "HOME": self.root, "LC_ALL": "C.UTF-8", "TZ": "UTC",
                    "XDG_CONFIG_HOME": os.path.join(self.root, "cfg")}
        for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "SLURM_CONF"):
            if name in os.environ:
                self.env[name] = os.environ[name]
        if scale != 1:
            self.env["ROUX_TEST_TIME_SCALE"] = str(scale)
        self.children = []
        self.server = None
        if executor == "stand-in":
            self.server = subprocess.Popen([*STAND_IN, "serve", self.bs])
            until("the stand-in", lambda: os.path.exists(os.path.join(self.bs, "socket")))
            self.configure(*config)

    def configure(self, *lines):
        text = subprocess.run([*STAND_IN, "config", self.bs, *lines], check=True,
                              stdout=subprocess.PIPE, text=True).stdout
        self.write_config(text)

    def write_config(self, text):
        with open(os.path.join(self.root, "cfg/roux/config.toml"), "w") as f:
            f.write(text)

    def faults(self, **what):
        with open(os.path.join(self.bs, "faults.new"), "w") as f:
            json.dump(what, f)
        os.rename(os.path.join(self.bs, "faults.new"), os.path.join(self.bs, "faults"))

    def jobs(self):
        out = subprocess.run([*STAND_IN, "list", self.bs], stdout=subprocess.PIPE, check=True).stdout
        return json.loads(out)

    def no_job_left(self):
        """A worker says bye as its last line and then ends: its job is over a moment after the run."""
        until("the end of every job", lambda: all(j["state"] not in ("PENDING", "RUNNING", "COMPLETING") for j in self.jobs()["jobs"]))

    def tell(self, op, **what):
        subprocess.run([*STAND_IN, op, self.bs, json.dumps(what)], check=True)

    def file(self, name, text=None):
        path = os.path.join(self.work, name)
        if text is not None:
            with open(path, "w") as f:
                f.write(text)
        return path

    def lines(self, name):
        try:
            with open(os.path.join(self.work, name)) as f:
                return f.read().splitlines()
        except OSError:
            return []

    def call(self, *words, env=None, stdin=b"", code=None):
        given = {"stdin": subprocess.DEVNULL} if stdin is None else {"input": stdin}
        p = subprocess.run([self.roux, *words], cwd=self.work, env={**self.env, **(env or {})}, **given,
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=PATIENCE)
        if code is not None:
            need(p.returncode == code, f"roux {words[0]} ended with {p.returncode}, not {code}: {p.stderr.decode()[-2000:]}")
        return p

    def start(self, *words, env=None):
        p = subprocess.Popen([self.roux, *words], cwd=self.work, env={**self.env, **(env or {})}, stdin=subprocess.DEVNULL,
                             stdout=open(os.path.join(self.root, "out"), "wb"),
                             stderr=open(os.path.join(self.root, "err"), "wb"))
        self.children.append(p)
        return p

    def at_call(self, place, number, what, *words, env=None):
        """Calls roux; at the number-th call by which it changes something below `place` it is killed, or fails from then on. `calls`
        of the answer has those up to there."""
        calls = os.path.join(self.root, "calls")
        p = subprocess.run([AT_CALL, place, calls, str(number), what, self.roux, *words], cwd=self.work, env={**self.env, **(env or {})},
                           stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=PATIENCE)
        need(p.returncode not in (98, 99), f"at-call cannot work here: {p.stderr.decode()}")
        with open(calls) as f:
            p.calls = f.read().splitlines()
        return p

    def run(self, template, *words, on=True, **more):
        text = template if isinstance(template, str) else json.dumps(template)
        where = ("--on", self.executor) if on else ()
        return self.call("run", "--template", text, *where, *words, **more)

    def begin(self, template, *words, env=None):
        return self.start("run", "--template", json.dumps(template), "--on", self.executor, *words, env=env)

    def dir(self, run):
        return json.loads(self.call("status", run, "--json").stdout)["dir"]

    def outs(self, run):
        """The files below out/ and what is in them."""
        place, found = os.path.join(self.dir(run), "out"), {}
        for name in os.listdir(place) if os.path.isdir(place) else []:
            with open(os.path.join(place, name), "rb") as f:
                found[name] = f.read()
        return found

    def events(self, run, kind=None):
        try:
            with open(os.path.join(self.dir(run), "events.jsonl")) as f:
                all = [json.loads(line) for line in f]
        except (OSError, ValueError, KeyError):
            return []
        return [e for e in all if kind in (None, e["type"])]

    def same_recipes(self):
        """A template, a Markdown and a YAML recipe give the same bytes, status and files here and on the executor."""
        recipes = {"t.json": json.dumps({"parallel": True, "repeat": 8, "template": ["sh -c 'echo {index}; echo e{index} >&2; exit $(({index} == 3))'", "cat"]}),
                   "m.md": "---\nargs: [n=3]\n---\n\n```json template\n{\"parallel\": true, \"template\": [\"echo {n}\", \"seq {n}\"]}\n```\n",
                   "y.yaml": "name: y\ndescription: d\nversion: 1.0.0\nsteps:\n  - id: a\n    type: bash\n    command: echo a; echo b >&2\n    output: x\n"
                             "  - id: l\n    type: bash\n    foreach: \"{{items}}\"\n    parallel: true\n    command: echo {{item}}\n    collect: all\n"
                             "context:\n  items: [1, 2, 3]\n"}
        for name, text in recipes.items():
            path = self.file(name, text)
            here = self.call("run", path, "--as", "here-" + name[0])
            there = self.call("run", path, "--as", "there-" + name[0], "--on", self.executor)
            need(here.returncode == there.returncode, f"{name}: {here.returncode} and {there.returncode}: {there.stderr.decode()[-1500:]}")
            need(here.stdout == there.stdout, f"{name}: {here.stdout} and {there.stdout}")
            need(self.outs("here-" + name[0]) == self.outs("there-" + name[0]), f"{name}: files below out/ differ")

    def exchange(self, run):
        return os.path.join(self.dir(run), "exchange")

    def close(self):
        for p in self.children:
            if p.poll() is None:
                p.kill()
                p.wait()
        if self.server:
            self.server.terminate()
            self.server.wait()
        shutil.rmtree(self.root, ignore_errors=True)


def main(cases, make, cannot=lambda case: None):
    """Runs the functions as TAP; each gets a world of its own. `cannot` says why one cannot be run here."""
    only = sys.argv[2:]
    chosen = [c for c in cases if not only or c.__name__ in only]
    print(f"1..{len(chosen)}", flush=True)
    bad = 0
    for i, case in enumerate(chosen, 1):
        began = time.monotonic()
        if cannot(case):
            print(f"ok {i} - {case.__doc__.strip()} # SKIP {cannot(case)}", flush=True)
            continue
        world = make(case)
        try:
            case(world)
            print(f"ok {i} - {case.__doc__.strip()}", flush=True)
        except Exception as e:  # pylint: disable=broad-except
            bad += 1
            print(f"not ok {i} - {case.__doc__.strip()}", flush=True)
            print("\n".join("# " + line for line in f"{type(e).__name__}: {e}".splitlines()), flush=True)
            err = os.path.join(world.root, "err")
            if os.path.exists(err):
                with open(err, errors="replace") as f:
                    print("\n".join("# err: " + line.rstrip() for line in f.readlines()[-15:]), flush=True)
        finally:
            world.close()
        if os.environ.get("VERBOSE"):
            print(f"# {time.monotonic() - began:.1f} s", flush=True)
    return 1 if bad else 0
