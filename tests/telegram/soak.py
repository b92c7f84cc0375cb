#!/usr/bin/env python3
"""usage: soak.py ROUX [--long]     random faults and kills: no prompt lost, none run twice, no answer lost

With --long, or with ROUX_TEST_LONG, 10,000 updates and 20 kills of the bridge; else a few seconds of the same."""

import os
import pathlib
import random
import subprocess
import sys
import time

import botapi
import harness

SEED = int(os.environ.get("ROUX_TELEGRAM_SEED", "11"))
SANITIZED = "ASAN_OPTIONS" in os.environ  # such a build keeps freed memory for a while


def memory(pid):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1])
    return 0


def processor(pid):
    """Seconds of processor time that a process has had."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def refused(code, text, **more):
    return {"ok": False, "error_code": code, "description": text, **more}


def fault(server, dice):
    """One more thing that goes wrong, unless some are still to come: an answer that fails again and again waits a
    minute, as it should, and the test would be of nothing else."""
    with server.lock:
        if len(server.faults) > 2:
            return
    kind = dice.randrange(9)
    method = dice.choice(["sendMessage", "getUpdates", "sendMessage", "sendChatAction"])
    if kind == 0:
        server.fault(method, 429, refused(429, "Too Many Requests", parameters={"retry_after": 1}))
    elif kind == 1:
        server.fault(method, 502, "<html>bad gateway</html>")
    elif kind == 2:
        server.fault(method, how="reset")
    elif kind == 3:
        server.fault(method, how="refuse")
    elif kind == 4:
        server.fault("getUpdates", how="half")
    elif kind == 5:
        server.fault("getUpdates", 409, refused(409, "Conflict: terminated by other getUpdates request"))
    elif kind == 6:
        with server.lock:  # again what was confirmed
            last = server.updates[0]["update_id"] if server.updates else 1 << 60
            server.again = [u for u in server.history[-200:] if u["update_id"] < last][-2:]
    elif kind == 7:
        server.fault("sendMessage", 400, refused(400, "Bad Request: can't parse entities: x"))
    else:
        server.fault("sendMessage", 500, "oops", times=2)


class Soak:
    def __init__(self, h):
        self.home, self.server, self.dice = h, h.server, random.Random(SEED)
        self.expected = []
        self.bridge = h.connect()

    def send(self, prompts, others):
        """Prompts among updates that change nothing."""
        kinds = [True] * prompts + [False] * others
        self.dice.shuffle(kinds)
        for prompt in kinds:
            if prompt:
                text = f"prompt {len(self.expected)}"
                self.expected.append("[telegram] " + text)
                self.server.message(text)
                if self.dice.random() < 0.3:
                    fault(self.server, self.dice)
            elif self.dice.random() < 0.5:
                self.server.message("noise", user=self.dice.randrange(100, 120))
            elif self.dice.random() < 0.5:
                self.server.edit(10 ** 9, "unknown")
            else:
                self.server.react(10 ** 9, ["👍"])

    def kill(self):
        """At some instant between now and the end of what waits."""
        least = len(self.home.starts())
        target = self.dice.randint(least, len(self.expected))
        self.home.until(lambda: len(self.home.starts()) >= target)
        time.sleep(self.dice.random() * 0.1)
        self.bridge.kill()
        self.bridge.wait()
        self.bridge = self.home.connect()

    def settled(self):
        """Whether all is done. An update of the person makes the bridge try again what it could not deliver."""
        status = self.home.status()
        done = status["turn"] is None and not any(status["queue"].values()) and \
            status["offset"] == 999 + len(self.server.history)
        if done and status["undelivered"]:
            self.server.edit(10 ** 9, "nudge")
        return done and not status["undelivered"]

    def settle(self):
        self.home.until(self.settled, 3000)


def nothing_is_lost(home, prompts=30, others=70, kills=3, calm=0):
    h = home()
    start = time.monotonic()
    soak = Soak(h)
    for _ in range(kills):
        soak.send(prompts // kills, others // kills)
        soak.kill()
    soak.settle()
    before = memory(soak.bridge.pid)
    if calm:
        soak.send(calm * prompts // (prompts + others), calm * others // (prompts + others))
        soak.settle()
    after = memory(soak.bridge.pid)
    started, expected = h.prompts(), soak.expected
    assert len(set(started)) == len(started), [p for p in started if started.count(p) > 1]
    assert not [t for t in h.server.texts() if "Interrupted" in t], "a kill of the bridge ended a turn"
    lost = [p for p in expected if p not in set(started)]
    assert not lost, lost
    assert started == expected, "not in order"
    shown = [t.strip() for t in h.server.texts() if t]
    # One that was refused in every form came as a file.
    shown += [c["files"]["document"][1].decode().strip() for c in h.server.calls("sendDocument")]
    missing = [p for p in expected if "answer to: " + p not in set(shown)]
    assert not missing, missing
    twice = len(shown) - len(set(shown)) - sum(t.startswith("This bot belongs") for t in shown)
    assert SANITIZED or after < before + 8192, (before, after)
    print(f"# {len(soak.server.history)} updates, {len(expected)} prompts, {kills} kills, "
          f"{len(soak.server.requests)} requests in {time.monotonic() - start:.1f} s: none lost, none twice, in order; "
          f"{max(twice, 0)} messages shown twice because their answer was lost; memory {before} to {after} kB; seed {SEED}")
    h.stop(soak.bridge)
    found = subprocess.run(["grep", "-rlF", botapi.TOKEN, str(h.dir)], capture_output=True, text=True).stdout.split()
    assert found == [str(h.config)], found


class Watch:
    """Prints how long things take; the goals are in telegram-bridge.md, and a slow machine is not a failure."""

    def __init__(self):
        self.at, self.said = time.monotonic(), []

    def lap(self, what):
        now = time.monotonic()
        self.said.append(f"{what} {now - self.at:.3f} s")
        self.at = time.monotonic()

    def skip(self):
        self.at = time.monotonic()

    def age(self):
        return time.monotonic() - self.at


def many_prompts_are_admitted_quickly(home, count=2000):
    h = home(queueLimit=0)
    bridge = h.connect()
    h.server.message("WAIT go")
    h.until(lambda: len(h.starts()) == 1)
    with h.server.lock:
        for n in range(count):
            h.server.message(f"prompt {n}")
    busy, ours = processor(bridge.pid), time.process_time()
    watch = Watch()
    # Without waking up at every request, which would be the time of this process and not of the bridge.
    while h.server.offsets[-1] != 1001 + count:
        assert bridge.poll() is None and watch.age() < 3000, h.log()
        time.sleep(0.005)
    watch.lap("admitted in")
    busy, ours = processor(bridge.pid) - busy, time.process_time() - ours
    assert h.status()["queue"]["default"] == count, h.status()
    watch.lap("status")
    h.server.message("/queue")
    menu = h.server.wait_text("waiting")[0]
    watch.lap("menu")
    h.server.press(f"queue:page:{(count - 1) // 8}", menu)
    h.server.wait(lambda: h.server.calls("answerCallbackQuery"))
    watch.lap("its last page")
    h.stop(bridge)
    watch.skip()
    h.connect()
    watch.lap("restart")
    h.touch("go")
    h.server.wait_text("answer to: [telegram] prompt 0")
    watch.lap("next turn")
    h.server.message("/stop")
    h.server.wait_text("waiting prompts were dropped")
    watch.lap("/stop")
    print(f"# {count} prompts: {', '.join(watch.said)}; {busy:.2f} s of processor time to admit them, "
          f"{ours:.2f} s of the stand-in to send them")


def a_flood_of_output_and_edits_is_bounded(home, lines=20000, edits=100):
    h = home(queueLimit=0, preview={"mode": "edit", "interval": 500})
    bridge = h.connect()
    h.server.message("STREAM 20 FLOOD {} WAIT never".format(lines))
    h.server.wait_text("line 3")
    before = memory(bridge.pid)
    with h.server.lock:
        for n in range(1000):
            h.server.message(f"prompt {n}")
        for _ in range(edits):
            h.server.edit(10 ** 9, "unknown")
    h.server.wait(lambda: h.server.offsets[-1] == 1001 + 1000 + edits, 3000)
    h.server.wait_text("line 25")  # of the flood
    watch = Watch()
    h.server.message("/abort")
    h.server.wait_text("Aborted.")
    watch.lap("/abort answered in")
    h.server.wait_text("aborted")
    after = memory(bridge.pid)
    times = [c["time"] for c in h.server.calls() if c["method"] in ("sendMessage", "editMessageText")
             and "line" in c["params"]["text"] and "aborted" not in c["params"]["text"]]
    gap = min((b - a for a, b in zip(times, times[1:])), default=0)
    assert SANITIZED or after < before + 16384, (before, after)
    assert h.status()["queue"]["default"] == 1000, h.status()
    print(f"# {lines * 100 >> 20} MB of output, 1000 prompts, {edits} edits: memory {before} to {after} kB, {len(times)} "
          f"previews with at least {gap:.2f} s between them, {watch.said[0]}")


def main(roux, long):
    def full(home):
        nothing_is_lost(home, 400, 6000, 20, 3600)
    full.__name__ = "nothing_is_lost_in_10000_updates_and_20_kills"

    def twenty(home):
        many_prompts_are_admitted_quickly(home, 20000)
    twenty.__name__ = "20000_prompts_are_admitted"
    def flood(home):
        a_flood_of_output_and_edits_is_bounded(home, 100000, 2000)
    flood.__name__ = "10_megabytes_of_output_and_2000_edits_are_bounded"
    long = long or os.environ.get("ROUX_TEST_LONG")
    return harness.main([full, twenty, flood] if long else
                        [nothing_is_lost, many_prompts_are_admitted_quickly, a_flood_of_output_and_edits_is_bounded], roux)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], "--long" in sys.argv[2:]))
