#!/usr/bin/env python3
"""usage: service.py ROUX [NAME...]     setting up, the lock, polling, and a service that fails"""

import json
import os
import stat
import subprocess
import sys
import time

import botapi
import harness

FLOOD = {"ok": False, "error_code": 429, "description": "Too Many Requests: retry after 1",
         "parameters": {"retry_after": 1}}


def refused(code, description):
    return {"ok": False, "error_code": code, "description": description}


def setup_stores_a_token_that_the_service_knows(home):
    h = home(setup=False)
    done = h.run("setup", "--token-file", "-", "--api", h.server.url, stdin=botapi.TOKEN + "\n")
    assert done.returncode == 0, done
    document = json.loads(h.config.read_text())
    assert document["botToken"] == botapi.TOKEN and document["botId"] == 4711, document
    assert document["botUsername"] == "roux_test_bot", document
    assert stat.S_IMODE(h.config.stat().st_mode) == 0o600
    assert "pairing.code" in done.stderr, done.stderr
    assert botapi.TOKEN not in done.stdout + done.stderr


def setup_says_who_answers(home):
    h = home(setup=False)
    given = ("setup", "--token-file", "-", "--api", h.server.url)
    done = h.run(*given, stdin=botapi.TOKEN)
    assert done.returncode == 0 and "--agent" in done.stderr, done
    done = h.run("setup", "--agent", "no-such-agent -p")
    assert done.returncode == 2 and "agent" not in json.loads(h.config.read_text()), done
    h.run("setup", "--agent", str(h.dir / "agent.py"), check=True)
    assert json.loads(h.config.read_text())["agent"] == {"template": str(h.dir / "agent.py")}
    assert "--agent" not in h.run("setup", check=True).stderr
    directory = h.dir / ".config/start"
    directory.mkdir(parents=True)
    (directory / "agents.toml").write_text("[agents.echo]\nbin = 'cat'\ncommand = '{bin}'\n")
    h.run("setup", "--agent", "echo", check=True)
    assert json.loads(h.config.read_text())["agent"] == {"name": "echo"}


def setup_keeps_what_it_does_not_know(home):
    h = home()
    before = {**json.loads(h.config.read_text()), "mine": {"deep": [1, 2.5, None, "ü"]}}
    h.config.write_text(json.dumps(before))
    h.run("setup", check=True)
    after = json.loads(h.config.read_text())
    assert {k: after[k] for k in before} == before, after


def a_refused_token_is_not_stored(home):
    h = home(setup=False)
    done = h.run("setup", "--token-file", "-", "--api", h.server.url, stdin="1:wrong")
    assert done.returncode == 1 and "refused" in done.stderr, done
    assert not h.config.exists()
    done = h.run("setup", "--token-file", "-", "--api", h.server.url, stdin="not a token")
    assert done.returncode == 2, done
    done = h.run("setup", "--api", "http://example.org", env={"TELEGRAM_BOT_TOKEN": "1:x"})
    assert done.returncode == 2 and "https://" in done.stderr, done
    done = h.run("setup", "--api", h.server.url, env={"TELEGRAM_KEY": botapi.TOKEN})
    assert done.returncode == 0, done


def a_broken_configuration_is_put_aside(home):
    h = home()
    h.config.write_text('{"botToken": ')
    done = h.run("connect")
    assert done.returncode == 2 and "telegram.json.broken-" in done.stderr, done
    broken = [p for p in h.agent_dir.iterdir() if ".broken-" in p.name]
    assert len(broken) == 1 and broken[0].read_text() == '{"botToken": ', broken


def settings_are_a_table(home):
    h = home()
    assert "queueLimit=500" in h.run("settings", check=True).stdout
    h.run("settings", "queueLimit=7", "preview.mode=edit", "pairing.code=abc", check=True)
    out = h.run("settings", check=True).stdout
    assert "queueLimit=7" in out and "preview.mode=edit" in out and "pairing.code=abc" in out, out
    for word, part in (("queueLimits=1", "queueLimit"), ("queueLimit=x", "whole number"), ("preview.mode=x", "edit"),
                       ("apiUrl=http://example.org", "https")):
        done = h.run("settings", word)
        assert done.returncode == 2 and part in done.stderr, done


def status_without_a_bridge(home):
    h = home(setup=False)
    document = h.status()
    assert document["ok"] and document["state"] == "stopped" and document["turn"] is None, document
    assert document["queue"] == {"control": 0, "priority": 0, "default": 0}, document
    assert set(document) == {"ok", "state", "bot", "pid", "cwd", "paired", "offset", "turn", "held", "queue",
                             "undelivered", "recent"}, document
    assert h.run("connect").returncode == 2


def a_pairing_code_is_needed_once(home):
    h = home(paired=False, pairing={"code": "k3y"})
    h.connect()
    h.server.message("hello", user=12)
    h.server.message("/start wrong", user=12)
    h.server.message("/start k3y", user=13)
    h.server.wait_text("Paired")
    h.server.wait_text("state:")
    document = json.loads(h.config.read_text())
    assert document["allowedUserId"] == 13 and "code" not in document.get("pairing", {}), document
    assert not h.starts(), h.prompts()


def one_process_has_the_lock(home):
    h = home()
    locks = h.agent_dir / "locks.json"
    locks.write_text('{"other": {"pid": 1, "x": [1]}}')
    first = h.connect()
    entry = json.loads(locks.read_text())
    assert entry["other"] == {"pid": 1, "x": [1]} and entry["roux-telegram"]["pid"] == first.pid, entry
    done = h.run("connect")
    assert done.returncode == 2 and "--force" in done.stderr, done
    assert h.status()["state"] == "polling" and h.status()["pid"] == first.pid
    second = h.connect("--force")
    assert first.wait(300) == 0
    assert json.loads(locks.read_text())["roux-telegram"]["pid"] == second.pid
    h.server.message("hello")
    h.server.wait_text("answer to: [telegram] hello")
    h.run("disconnect", check=True)
    assert second.wait(300) == 0
    assert json.loads(locks.read_text()) == {"other": {"pid": 1, "x": [1]}}


def a_stale_entry_is_replaced(home):
    h = home()
    (h.agent_dir / "locks.json").write_text(json.dumps(
        {"roux-telegram": {"pid": os.getpid(), "cwd": "/", "startedAt": "2001-01-01T00:00:00.000Z"}}))
    h.connect()


def a_turn_outlives_a_bridge_that_lost_the_lock(home):
    h = home()
    first = h.connect()
    h.server.message("WAIT go")
    h.until(lambda: len(h.starts()) == 1)
    h.connect("--force")
    first.wait(300)
    h.touch("go")
    assert len(h.server.wait_text("answer to: [telegram] WAIT go")) == 1
    assert len(h.starts()) == 1, h.prompts()


def a_clean_stop_says_that_the_turn_continues(home):
    h = home()
    bridge = h.connect()
    h.server.message("WAIT go")
    h.until(lambda: len(h.starts()) == 1)
    assert h.stop(bridge) == 0
    h.server.wait_text("The turn continues as run")
    assert json.loads(h.config.read_text())["lastUpdateId"] == 1000
    h.touch("go")
    h.connect()
    h.server.wait_text("answer to: [telegram] WAIT go")
    assert len(h.starts()) == 1


def old_traffic_is_not_executed(home):
    h = home()
    document = json.loads(h.config.read_text())
    del document["lastUpdateId"]
    h.config.write_text(json.dumps(document))
    h.server.message("old")
    h.server.message("old too")
    h.connect()
    h.server.wait(lambda: len(h.server.offsets) >= 2)
    assert h.server.offsets[:2] == [-1, 1002], h.server.offsets
    h.server.message("new")
    h.server.wait_text("answer to: [telegram] new")
    assert h.prompts() == ["[telegram] new"], h.prompts()
    first = h.server.calls()[0]
    assert first["method"] == "deleteWebhook" and first["params"] == {"drop_pending_updates": False}, first


def an_update_that_comes_twice_is_run_once(home):
    h = home()
    h.connect()
    h.server.message("once")
    h.server.wait_text("answer to: [telegram] once")
    with h.server.lock:
        h.server.updates.append({"update_id": 1000, "message": {
            "message_id": 1, "date": 1, "text": "once", "chat": {"id": 7, "type": "private"},
            "from": {"id": 7, "is_bot": False, "first_name": "P"}}})
        h.server.updates.append(h.server.updates[0])
    h.server.message("twice")
    h.server.wait_text("answer to: [telegram] twice")
    assert h.prompts() == ["[telegram] once", "[telegram] twice"], h.prompts()


def polling_survives_errors(home):
    h = home()
    h.connect()
    h.server.fault("getUpdates", 502, "<html>bad gateway</html>")
    h.server.fault("getUpdates", how="reset")
    h.server.message("after errors")
    h.server.wait_text("answer to: [telegram] after errors")
    assert h.prompts() == ["[telegram] after errors"], h.prompts()


def a_conflict_is_shown_and_survived(home):
    h = home()
    h.connect()
    h.server.fault("getUpdates", 409, refused(409, "Conflict: terminated by other getUpdates request"), times=2)
    h.server.message("x")
    h.server.wait_text("answer to: [telegram] x")
    assert any("another program polls" in e["message"] for e in h.status()["recent"]), h.status()


def a_refused_token_ends_the_bridge(home):
    h = home()
    bridge = h.connect()
    h.server.fault("getUpdates", 401, refused(401, "Unauthorized"), times=99)
    h.server.message("x")
    assert bridge.wait(300) == 1
    assert h.status()["state"] == "refused", h.status()


def an_answer_waits_for_the_service(home):
    h = home()
    h.connect()
    h.server.fault("sendMessage", 429, FLOOD)
    h.server.message("one")
    h.server.wait_text("answer to: [telegram] one")
    h.server.fault("sendMessage", 500, "oops", times=2)
    h.server.message("two")
    h.server.wait_text("answer to: [telegram] two")
    h.server.fault("sendMessage", how="refuse")
    h.server.message("three")
    h.server.wait_text("answer to: [telegram] three")
    answers = [t for t in h.server.texts() if "answer" in t]
    assert len(answers) == 3, answers


def an_answer_that_could_not_be_sent_is_kept(home):
    h = home()
    bridge = h.connect()
    h.server.fault("sendMessage", 403, refused(403, "Forbidden: bot was blocked by the user"), times=1)
    h.server.message("one")
    h.until(lambda: h.status()["undelivered"] == 1)
    h.stop(bridge)
    h.connect()
    h.server.wait_text("answer to: [telegram] one")
    h.until(lambda: h.status()["undelivered"] == 0)
    assert len(h.starts()) == 1


def html_that_is_refused_is_sent_plain(home):
    h = home()
    h.connect()
    h.server.fault("sendMessage", 400, refused(400, "Bad Request: can't parse entities: x"))
    h.server.message("**bold**")
    h.server.wait_text("answer to: [telegram] bold")
    assert "parse_mode" not in h.server.calls("sendMessage")[-1]["params"]


def an_answer_that_is_refused_in_every_form_is_a_file(home):
    h = home()
    h.connect()
    h.server.fault("sendMessage", 400, refused(400, "Bad Request: can't parse entities: x"), times=2)
    h.server.message("**one**")
    h.server.wait(lambda: h.server.calls("sendDocument"))
    assert h.server.calls("sendDocument")[0]["files"]["document"] == ("answer.md", b"answer to: [telegram] one")
    h.server.fault("sendMessage", 400, refused(400, "Bad Request: no"), times=9)
    h.server.fault("sendDocument", 400, refused(400, "Bad Request: no"), times=9)
    h.server.message("two")
    h.until(lambda: h.status()["turn"] is None and len(h.starts()) == 2 and h.status()["undelivered"] == 0)
    assert any("Bad Request: no" in e["message"] for e in h.status()["recent"]), h.status()


def an_unreadable_success_is_not_sent_again(home):
    h = home()
    h.connect()
    h.server.fault("sendMessage", 200, "not json")
    h.server.message("one")
    h.server.message("two")
    h.server.wait_text("answer to: [telegram] two")
    assert len(h.server.calls("sendMessage")) == 2, h.server.calls("sendMessage")


def no_token_is_anywhere(home):
    h = home()
    bridge = h.connect(env={"TELEGRAM_BOT_TOKEN": botapi.TOKEN, "OTHER": "x" + botapi.TOKEN})
    h.server.fault("sendMessage", 400, refused(400, f"Bad Request: {botapi.TOKEN}"))
    h.server.message("one")
    h.server.message("two")
    h.server.wait_text("answer to: [telegram] two")
    with open(f"/proc/{bridge.pid}/cmdline") as f:
        assert botapi.TOKEN not in f.read()
    assert botapi.TOKEN not in json.dumps(h.starts())
    h.stop(bridge)
    found = subprocess.run(["grep", "-rlF", botapi.TOKEN, str(h.dir)], capture_output=True, text=True).stdout.split()
    assert found == [str(h.config)], found


def a_detached_start_returns_when_it_polls(home):
    h = home()
    done = h.run("connect", "--detach", check=True)
    pid = json.loads(done.stdout)["pid"]
    assert h.status()["pid"] == pid, h.status()
    h.server.message("hello")
    h.server.wait_text("answer to: [telegram] hello")
    h.run("disconnect", check=True)
    assert h.status()["state"] == "stopped", h.status()


def push_reaches_the_person(home):
    h = home()
    h.run("push", "*kept*", check=True)
    h.connect()
    h.server.wait_text("kept")
    h.run("push", "-", stdin="now", check=True)
    h.server.wait_text("now")
    other = home(paired=False)
    assert other.run("push", "x").returncode == 2


TESTS = [f for f in globals().values() if callable(f) and getattr(f, "__module__", "") == __name__ and f is not refused]

if __name__ == "__main__":
    sys.exit(harness.main(TESTS, sys.argv[1], sys.argv[2:]))
