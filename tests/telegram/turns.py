#!/usr/bin/env python3
"""usage: turns.py ROUX [NAME...]     prompts from the chat, from update to answer"""

import sys

import harness


def a_prompt_is_run_and_answered(home):
    h = home()
    h.connect()
    sent = h.server.message("hello")
    found = h.server.wait_text("answer to: [telegram] hello")
    assert h.prompts() == ["[telegram] hello"], h.prompts()
    assert h.server.messages[found[0]]["reply"] == sent, h.server.messages


def the_first_person_is_paired(home):
    h = home(paired=False)
    h.connect()
    h.server.message("hello", user=12)
    h.server.wait_text("Paired")
    h.server.wait_text("answer to: [telegram] hello")
    h.server.message("let me in", user=13)
    h.server.message("let me in", user=13)
    h.server.wait_text("belongs to another person")
    h.server.message("again", user=12)
    h.server.wait_text("answer to: [telegram] again")
    assert len([t for t in h.server.texts() if "another person" in t]) == 1, h.server.texts()
    assert len(h.starts()) == 2, h.prompts()


def prompts_run_one_after_the_other_in_order(home):
    h = home()
    h.connect()
    h.server.message("WAIT go")
    for n in range(5):
        h.server.message(f"number {n}")
    h.until(lambda: len(h.starts()) == 1)
    h.until(lambda: h.status()["queue"]["default"] == 5)
    h.touch("go")
    h.server.wait_text("number 4")
    assert h.prompts() == ["[telegram] WAIT go"] + [f"[telegram] number {n}" for n in range(5)], h.prompts()


def a_failed_agent_says_why(home):
    h = home()
    h.connect()
    h.server.message("FAIL")
    h.server.wait_text("something broke")


def abort_ends_the_turn_and_keeps_the_queue(home):
    h = home()
    h.connect()
    h.server.message("WAIT never")
    h.server.message("two")
    h.until(lambda: len(h.starts()) == 1)
    h.server.message("/abort")
    h.server.wait_text("Aborted.")
    h.until(lambda: h.status()["turn"] is None)
    assert h.status()["held"] and h.status()["queue"]["default"] == 1, h.status()
    h.server.message("/next")
    h.server.wait_text("answer to: [telegram] two")


def a_killed_bridge_loses_nothing(home):
    h = home()
    bridge = h.connect()
    h.server.message("WAIT go")
    h.server.message("two")
    h.until(lambda: len(h.starts()) == 1)
    h.until(lambda: h.status()["queue"]["default"] == 1)
    h.stop(bridge, 9)
    h.touch("go")
    h.server.message("three")
    h.connect()
    h.server.wait_text("answer to: [telegram] three")
    assert h.prompts() == ["[telegram] WAIT go", "[telegram] two", "[telegram] three"], h.prompts()
    assert len(h.server.wait_text("answer to: [telegram] WAIT go")) == 1


TESTS = [f for f in globals().values() if callable(f) and getattr(f, "__module__", "") == __name__]

if __name__ == "__main__":
    sys.exit(harness.main(TESTS, sys.argv[1], sys.argv[2:]))
