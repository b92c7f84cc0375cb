#!/usr/bin/env python3
"""usage: soak.py ROUX [--long]     random faults and kills: no prompt lost, none run twice, no answer lost

With --long, or with ROUX_TEST_LONG, 10,000 updates and 20 kills of the bridge; else a few seconds of the same."""

import json
import os
import pathlib
import random
import subprocess
import sys
import time

import botapi
import harness

SEED = int(os.environ.get("ROUX_TELEGRAM_SEED", "11"))


def memory(pid):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1])
    return 0


def refused(code, text, **more):
    return {"ok": False, "error_code": code, "description": text, **more}


def faults(server, dice):
    kind = dice.randrange(8)
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
            server.again = [u for u in server.history if u["update_id"] < last][-2:]
    else:
        server.fault("sendMessage", 500, "oops", times=2)


def soak(h, prompts, others, kills):
    dice = random.Random(SEED)
    server = h.server
    bridge = h.connect()
    expected = []
    least, most = None, 0
    kill_at = set(dice.sample(range(1, prompts), kills))
    per_prompt = others // prompts
    for n in range(prompts):
        text = f"prompt {n}"
        expected.append("[telegram] " + text)
        server.message(text)
        for _ in range(per_prompt):  # updates that change nothing
            server.message("noise", user=dice.randrange(100, 120))
        if dice.random() < 0.3:
            faults(server, dice)
        if n in kill_at:
            time.sleep(dice.random() * 0.3)
            bridge.kill()
            bridge.wait()
            bridge = h.connect()
        if n % 20 == 0:
            now = memory(bridge.pid)
            least, most = least or now, max(most, now)

    def settled():
        status = h.status()
        return status["turn"] is None and not any(status["queue"].values()) and status["undelivered"] == 0 and \
            status["offset"] == 999 + len(server.history)
    h.until(settled, 3000)
    return bridge, expected, least, most


def nothing_is_lost(home, prompts=40, others=40, kills=3):
    h = home()
    bridge, expected, least, most = soak(h, prompts, others, kills)
    started = h.prompts()
    interrupted = [t for t in h.server.texts() if "Interrupted" in t]
    assert len(set(started)) == len(started), [p for p in started if started.count(p) > 1]
    lost = [p for p in expected if p not in started]
    assert not lost and not interrupted, (lost, interrupted)
    assert started == expected, "not in order"
    shown = h.server.texts()
    missing = [p for p in expected if not any("answer to: " + p == t.strip() for t in shown)]
    assert not missing, missing
    assert most < (least or 1) * 3 + 20000, (least, most)
    print(f"# {prompts} prompts, {others} other updates, {kills} kills; {least} to {most} kB; seed {SEED}")
    h.stop(bridge)
    found = subprocess.run(["grep", "-rlF", botapi.TOKEN, str(h.dir)], capture_output=True, text=True).stdout.split()
    assert found == [str(h.config)], found


def many_prompts_are_admitted_quickly(home, count=2000):
    h = home(queueLimit=0)
    h.connect()
    h.server.message("WAIT go")
    h.until(lambda: len(h.starts()) == 1)
    with h.server.lock:
        first = len(h.server.offsets)
        for n in range(count):
            h.server.message(f"prompt {n}")
    start = time.monotonic()
    h.until(lambda: h.server.offsets[-1] == 1001 + count)
    h.until(lambda: h.status()["queue"]["default"] == count)
    took = time.monotonic() - start
    print(f"# {count} prompts in {took:.2f} s, {len(h.server.offsets) - first} polls")
    h.server.message("/stop")
    h.server.wait_text(f"{count} waiting prompts were dropped")


def main(roux, long):
    def full(home):
        nothing_is_lost(home, 500, 9500, 20)
    full.__name__ = "nothing_is_lost_in_10000_updates_and_20_kills"

    def twenty(home):
        many_prompts_are_admitted_quickly(home, 20000)
    twenty.__name__ = "20000_prompts_are_admitted"
    return harness.main([full, twenty] if long or os.environ.get("ROUX_TEST_LONG") else [nothing_is_lost, many_prompts_are_admitted_quickly], roux)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], "--long" in sys.argv[2:]))
