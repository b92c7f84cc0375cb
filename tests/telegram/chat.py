#!/usr/bin/env python3
"""usage: chat.py ROUX [NAME...]     what a person can do in the chat"""

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys

import harness


def busy(home, agent=None, **how):
    """A home with a bridge and a turn that runs until `go` is there."""
    h = home(**how)
    document = json.loads(h.config.read_text())
    document["agent"].update(agent or {})
    h.config.write_text(json.dumps(document))
    h.connect()
    h.server.message("WAIT go")
    h.until(lambda: len(h.starts()) == 1)
    return h


def waiting(h, count):
    h.until(lambda: sum(h.status()["queue"].values()) == count)


def script(h, name, text):
    path = h.dir / name
    path.write_text("#!/bin/sh\n" + text)
    path.chmod(0o755)
    return str(path)


def button(h, number, label):
    """The data of the button whose label contains that; the menu it stands in may still be on its way."""
    return h.server.wait(lambda: [d for l, d in h.server.keyboard(number) if label in l])[0]


def answered(h, query):
    """How a query was answered."""
    def find():
        calls = [c for c in h.server.calls("answerCallbackQuery") if c["params"]["callback_query_id"] == query]
        assert len(calls) < 2, calls
        return calls
    return h.server.wait(find)[0]["params"].get("text", "")


def reactions_promote_demote_and_remove(home):
    h = busy(home)
    one, two, three = (h.server.message(t) for t in ("one", "two", "three"))
    waiting(h, 3)
    h.server.react(three, ["⚡️"])
    h.server.react(two, ["👍"])
    h.until(lambda: h.status()["queue"]["priority"] == 2)
    h.server.react(two, [], ["👍"])
    h.server.react(one, ["💩"])
    h.until(lambda: h.status()["queue"] == {"control": 0, "priority": 1, "default": 1})
    h.touch("go")
    h.server.wait_text("answer to: [telegram] two")
    assert h.prompts()[1:] == ["[telegram] three", "[telegram] two"], h.prompts()


def reactions_of_others_change_nothing(home):
    h = busy(home)
    one, two = h.server.message("one"), h.server.message("two")
    waiting(h, 2)
    h.server.react(one, ["👍"], user=8)
    h.server.react(two, ["💩"], user=8)
    h.server.add({"message_reaction": {"chat": {"id": -5, "type": "group"}, "message_id": two, "date": 1, "old_reaction": [],
                                       "user": {"id": 7, "is_bot": False, "first_name": "P"},
                                       "new_reaction": [{"type": "emoji", "emoji": "💩"}]}})
    for chat in (8, 7):
        h.server.add({"deleted_business_messages": {"business_connection_id": "x", "chat": {"id": chat, "type": "private"},
                                                    "message_ids": [one if chat == 7 else two]}})
    h.until(lambda: h.status()["offset"] == 1007)
    assert h.status()["queue"] == {"control": 0, "priority": 0, "default": 1}, h.status()
    h.touch("go")
    h.server.wait_text("answer to: [telegram] two")
    assert h.prompts()[1:] == ["[telegram] two"], h.prompts()


def an_edit_changes_what_waits(home):
    h = busy(home)
    one = h.server.message("one")
    waiting(h, 1)
    h.server.edit(one, "better")
    h.server.edit(1, "too late")
    h.server.edit(4711, "unknown")
    h.until(lambda: h.status()["offset"] == 1004)
    h.touch("go")
    h.server.wait_text("answer to: [telegram] better")
    assert h.prompts()[1:] == ["[telegram] better"], h.prompts()


def a_long_text_is_put_together(home):
    h = home()
    h.connect()
    with h.server.lock:  # in one answer
        h.server.message("a" * 4096)
        h.server.message("b" * 4096)
        h.server.message("c")
    h.until(lambda: len(h.starts()) == 1)
    prompt = h.prompts()[0]
    assert prompt == "[telegram] " + "\n\n".join(["a" * 4096, "b" * 4096, "c"]), prompt[-200:]


def an_album_is_one_turn(home):
    h = home()
    h.server.files = {"f1": ("photos/1.jpg", b"one"), "f2": ("photos/2.jpg", b"two")}
    h.connect()
    with h.server.lock:  # in one answer
        h.server.message(caption="look", media_group_id="9",
                         photo=[{"file_id": "f1", "file_unique_id": "1", "width": 1, "height": 1, "file_size": 3}])
        h.server.message(media_group_id="9",
                         photo=[{"file_id": "f2", "file_unique_id": "2", "width": 1, "height": 1, "file_size": 3}])
    h.until(lambda: len(h.starts()) == 1)
    prompt = h.prompts()[0]
    lines = prompt.split("\n")
    assert lines[0] == "[telegram] look" and lines[2].startswith("[attachments] ") and len(lines) == 5, prompt
    directory = lines[2].partition(" ")[2]
    read = [open(directory + line[2:], "rb").read() for line in lines[3:]]
    assert read == [b"one", b"two"], read
    assert os.stat(directory + lines[3][2:]).st_mode & 0o777 == 0o600


def a_missing_file_does_not_lose_the_turn(home):
    h = home()
    h.connect()
    h.server.message(caption="read it", document={"file_id": "gone", "file_unique_id": "1", "file_name": "a.pdf"})
    h.until(lambda: len(h.starts()) == 1)
    assert "a.pdf is missing" in h.prompts()[0], h.prompts()
    h.server.message(caption="big", document={"file_id": "x", "file_unique_id": "1", "file_name": "b.pdf",
                                              "file_size": 1 << 40})
    h.until(lambda: len(h.starts()) == 2)
    assert "b.pdf is missing: it is larger than allowed" in h.prompts()[1], h.prompts()


def after_an_abort_the_next_message_takes_along_what_waits(home):
    h = busy(home)
    h.server.message("two")
    h.server.message("three")
    waiting(h, 2)
    h.server.message("/abort")
    h.server.wait_text("Aborted.")
    h.until(lambda: h.status()["turn"] is None)
    h.server.message("four")
    h.until(lambda: len(h.starts()) == 2)
    prompt = h.prompts()[1]
    assert prompt.index("two") < prompt.index("three") < prompt.index("four"), prompt
    h.server.wait_text("four")
    assert not h.status()["held"] and len(h.starts()) == 2, h.prompts()


def stop_drops_what_waits(home):
    h = busy(home)
    h.server.message("two")
    h.server.message("three")
    waiting(h, 2)
    h.server.message("/stop")
    h.server.wait_text("2 waiting prompts were dropped")
    h.until(lambda: h.status()["turn"] is None)
    h.server.message("four")
    h.server.wait_text("answer to: [telegram] four")
    assert h.prompts()[1:] == ["[telegram] four"], h.prompts()


def continue_comes_before_everything(home):
    h = busy(home)
    two = h.server.message("two")
    h.server.react(two, ["🔥"])
    h.server.message("/continue")
    waiting(h, 2)
    h.touch("go")
    h.server.wait_text("answer to: [telegram] two")
    assert h.prompts()[1:] == ["[telegram] continue", "[telegram] two"], h.prompts()


def a_full_queue_refuses(home):
    h = busy(home, queueLimit=2)
    for n in range(3):
        h.server.message(f"n{n}")
    h.server.wait_text("The queue is full")
    waiting(h, 2)


def without_an_agent_the_chat_says_what_to_set(home):
    h = home(agent=False)
    h.connect()
    h.server.message("hello")
    h.server.wait_text("agent.template")
    assert sum(h.status()["queue"].values()) == 0


def buttons_of_an_answer_send_a_prompt_once(home):
    h = home()
    (h.dir / "text").write_text("Pick.\n\n<!-- telegram_button label=Go prompt=\"Do it\" -->\n")
    bridge = h.connect()
    h.server.message("SAY text")
    number = h.server.wait_text("Pick.")[0]
    data = button(h, number, "Go")
    h.stop(bridge)
    h.connect()
    assert "Queued" in answered(h, h.server.press(data, number))
    h.server.wait_text("answer to: [telegram] Do it")
    assert "Already" in answered(h, h.server.press(data, number))
    assert "expired" in answered(h, h.server.press("tgbtn:00000000", number))
    assert len(h.starts()) == 2, h.prompts()


def foreign_buttons_are_prompts(home):
    h = home()
    h.connect()
    assert answered(h, h.server.press("acme:approve:7", 50)) == ""
    h.server.wait_text("answer to: [callback] acme:approve:7")
    assert answered(h, h.server.press("model:zzz", 50)) == ""
    assert "another person" in answered(h, h.server.press("acme:x", 50, user=99))
    assert len(h.starts()) == 1


def menus_lead_everywhere(home):
    h = busy(home, {"models": [{"id": f"m{n}", "thinking": n == 1} for n in range(8)], "thinking": ["off", "high"]})
    h.server.message("waiting <one>")
    waiting(h, 1)
    h.server.message("/start")
    menu = h.server.wait_text("state:")[0]
    h.server.wait(lambda: h.server.calls("setMyCommands"))
    names = [c["command"] for c in h.server.calls("setMyCommands")[0]["params"]["commands"]]
    assert names == ["start", "compact", "next", "continue", "abort", "stop"], names

    def go(label):
        assert (text := answered(h, h.server.press(button(h, menu, label), menu))) is not None
        return text

    def shows(part):
        h.server.wait(lambda: part in h.server.messages[menu]["visible"])

    go("Model"), shows("now: m0")
    go("›"), h.server.wait(lambda: any("m7" in l for l, _ in h.server.keyboard(menu)))
    go("‹"), h.server.wait(lambda: any("m1" in l for l, _ in h.server.keyboard(menu)))
    go("m1"), shows("thinking levels")
    assert "next turn" in go("Use it")
    go("Back"), shows("now: m1"), go("Back"), shows("model: m1")
    go("Thinking"), h.server.wait(lambda: any("high" in l for l, _ in h.server.keyboard(menu)))
    go("high"), shows("now: high")
    go("Back"), shows("state:")
    go("Queue"), shows("1 waiting")
    go("waiting"), shows("waiting <one>")
    go("⚡"), shows("Priority")
    assert h.status()["queue"]["priority"] == 1
    go("Delete"), shows("Delete this prompt?")
    go("Delete"), shows("Queue is empty")
    go("Refresh"), shows("Nothing waits")
    go("Back"), go("Settings"), shows("Settings")
    go("Proactive"), go("On"), h.until(lambda: json.loads(h.config.read_text())["proactivePush"])
    assert "expired" in answered(h, h.server.press("menu:model", 4242))


def a_preview_becomes_the_answer(home):
    h = home(preview={"mode": "edit", "interval": 200})
    h.connect()
    h.server.message("STREAM 30")
    number = h.server.wait_text("line 1")[0]
    h.server.wait_text("the end")
    assert "the end" in h.server.messages[number]["visible"], h.server.messages
    assert len(h.server.texts()) == 1, h.server.texts()
    assert h.server.calls("sendChatAction")


def an_aborted_preview_is_marked(home):
    h = home(preview={"mode": "edit", "interval": 200})
    h.connect()
    h.server.message("STREAM 3000")
    number = h.server.wait_text("line 1")[0]
    h.server.message("/abort")
    h.server.wait_text("aborted")
    assert "line 1" in h.server.messages[number]["visible"], h.server.messages


def a_preview_that_is_gone_becomes_a_reply(home):
    h = home(preview={"mode": "edit", "interval": 200})
    h.connect()
    asked = h.server.message("STREAM 5 WAIT go")
    number = h.server.wait_text("line 1")[0]
    with h.server.lock:
        del h.server.messages[number]
    h.touch("go")
    answer = h.server.wait_text("the end")[0]
    assert h.server.messages[answer]["reply"] == asked, h.server.messages


def a_preview_of_an_earlier_process_is_marked(home):
    h = home(preview={"mode": "edit", "interval": 200})
    bridge = h.connect()
    h.server.message("STREAM 5 WAIT go")
    number = h.server.wait_text("line 0")[0]
    h.server.wait(lambda: h.server.calls("editMessageText"))  # so the bridge has heard of the message
    h.stop(bridge, signal.SIGKILL)
    run = h.status()["turn"]["run"]
    subprocess.run([h.roux, "cancel", run], env=h.env, cwd=h.dir, check=True, capture_output=True)
    h.connect()
    h.server.wait_text("aborted")
    assert "line 0" in h.server.messages[number]["visible"], h.server.messages


def a_very_long_answer_is_a_file(home):
    h = home()
    (h.dir / "text").write_text("\n\n".join(f"paragraph {n} " + "x" * 3000 for n in range(40)))
    h.connect()
    h.server.message("SAY text")
    h.server.wait(lambda: h.server.calls("sendDocument"))
    name, data = h.server.calls("sendDocument")[0]["files"]["document"]
    assert name == "answer.md" and b"paragraph 39" in data, name
    assert len(h.server.calls("sendMessage")) == 1


def the_agent_attaches_files(home):
    h = home()
    (h.dir / "a.txt").write_text("text")
    h.connect()
    h.server.message("ATTACH a.txt")
    h.server.wait(lambda: h.server.calls("sendDocument"))
    assert h.server.calls("sendDocument")[0]["files"]["document"] == ("a.txt", b"text")
    h.server.message("ATTACH missing.txt")
    h.server.wait_text("attached 2")
    assert h.run("attach", "a.txt").returncode == 2


def handlers_change_texts_and_speak_for_files(home):
    h = home()
    up = script(h, "up", "tr a-z A-Z")
    spoken = script(h, "spoken", 'echo "heard $(cat "$1")"')
    document = json.loads(h.config.read_text())
    document["inboundHandlers"] = [{"type": "text", "template": up}, {"type": "voice", "template": spoken}]
    document["outboundHandlers"] = [{"type": "text", "template": script(h, "sign", 'cat; echo "-- signed"')}]
    h.config.write_text(json.dumps(document))
    h.server.files = {"v": ("voice/1.oga", b"words")}
    h.connect()
    h.server.message("quiet")
    h.server.wait_text("-- signed")
    assert h.prompts() == ["[telegram] QUIET"], h.prompts()
    h.server.message(voice={"file_id": "v", "file_unique_id": "1", "duration": 1, "mime_type": "audio/ogg"})
    h.until(lambda: len(h.starts()) == 2)
    assert h.prompts()[1].endswith("[outputs]\n- heard words"), h.prompts()


def held(h, name, before, after):
    """A handler that says that it works and waits until `go` is there. Its bridge may end before."""
    return script(h, name, f"{before}\ntouch '{h.dir}/{name}.works'\nwhile ! [ -e '{h.dir}/go' ]; do sleep 0.05; done\n{after}\n")


def stopped_while(h, name, say, **config):
    """Ends a bridge, by a signal, while that handler works on what `say` brought, and starts the next one."""
    h.config.write_text(json.dumps({**json.loads(h.config.read_text()), **config}))
    bridge = h.connect()
    say()
    h.until(lambda: (h.dir / f"{name}.works").exists())
    assert h.stop(bridge) == 0, h.log()
    shown = h.server.texts()
    h.touch("go")
    h.connect()
    return shown


def a_bridge_stops_while_a_text_is_handled(home):
    h = home()
    shown = stopped_while(h, "sign", lambda: h.server.message("quiet"),
                          outboundHandlers=[{"type": "text", "template": held(h, "sign", "cat", 'echo "-- signed"')}])
    assert not any("answer to" in t for t in shown), shown  # not without its handler
    h.server.wait_text("answer to: [telegram] quiet\n-- signed")
    assert len([t for t in h.server.texts() if "answer to" in t]) == 1, h.server.texts()
    assert len(h.starts()) == 1, h.prompts()


def a_bridge_stops_while_a_message_is_handled(home):
    h = home()
    stopped_while(h, "up", lambda: h.server.message("quiet"),
                  inboundHandlers=[{"type": "text", "template": held(h, "up", "", "tr a-z A-Z")}])
    h.server.wait_text("answer to: [telegram] QUIET")
    assert h.prompts() == ["[telegram] QUIET"], h.prompts()


def a_bridge_stops_while_a_voice_is_made(home):
    h = home()
    (h.dir / "text").write_text("Hi.\n\n<!-- telegram_voice: good morning -->\n")
    template = held(h, "tts", "", 'printf "%s" "$1" >"$2"') + " {text} {ogg}"
    stopped_while(h, "tts", lambda: h.server.message("SAY text"),
                  outboundHandlers=[{"type": "voice", "output": "ogg", "template": template}])
    h.server.wait(lambda: h.server.calls("sendVoice"))
    assert h.server.calls("sendVoice")[0]["files"]["voice"][1] == b"good morning"
    assert len([t for t in h.server.texts() if t == "Hi."]) == 1, h.server.texts()


def a_bridge_stops_while_an_update_is_looked_at(home):
    h = home()
    stopped_while(h, "hook", lambda: h.server.message("open"),
                  externalHandlers=[{"template": held(h, "hook", "", "cat >/dev/null"), "timeout": 600000}])
    h.server.wait_text("answer to: [telegram] open")
    assert h.prompts() == ["[telegram] open"], h.prompts()


def a_bridge_stops_while_the_agent_compacts(home):
    h = home()
    document = json.loads(h.config.read_text())
    stopped_while(h, "compact", lambda: h.server.message("/compact"),
                  agent={**document["agent"], "compact": held(h, "compact", "", "echo shorter")})
    h.server.message("hello")
    h.server.wait_text("answer to: [telegram] hello")


def a_bridge_stops_while_a_section_answers(home):
    h = home()
    stopped_while(h, "part", lambda: h.server.message("/mine"),
                  sections=[{"id": "x", "label": "Mine", "render": held(h, "part", "cat >/dev/null", "echo '{}'"),
                             "commands": ["mine"]}])
    h.server.message("hello")
    h.server.wait_text("answer to: [telegram] hello")


def a_voice_is_spoken_by_a_handler(home):
    h = home()
    (h.dir / "text").write_text("Hi.\n\n<!-- telegram_voice: good morning -->\n")
    document = json.loads(h.config.read_text())
    document["outboundHandlers"] = [{"type": "voice", "output": "ogg",
                                     "template": script(h, "tts", 'printf "%s" "$1" >"$2"') + " {text} {ogg}"}]
    h.config.write_text(json.dumps(document))
    h.connect()
    h.server.message("SAY text")
    h.server.wait(lambda: h.server.calls("sendVoice"))
    assert h.server.calls("sendVoice")[0]["files"]["voice"][1] == b"good morning"
    assert h.server.texts()[0] == "Hi.", h.server.texts()
    (h.dir / "text").write_text("<!-- telegram_voice: alone -->\n")
    asked = h.server.message("SAY text")
    h.server.wait(lambda: len(h.server.calls("sendVoice")) == 2)
    replies = [c["params"].get("reply_parameters", {}).get("message_id") for c in h.server.calls("sendVoice")]
    assert replies == [None, asked], replies


def prompt_templates_are_commands(home):
    h = home(promptTemplates=["prompts/*.md"])
    (h.agent_dir / "prompts").mkdir()
    (h.agent_dir / "prompts/fix-tests.md").write_text("---\na: 1\n---\nFix $1 in ${@:2}.")
    h.connect()
    h.server.message("/fix_tests all 'the files' now")
    h.server.wait_text("answer to: [telegram] Fix all in the files now.")
    h.server.message("/unknown x")
    h.server.wait_text("answer to: [telegram] /unknown x")
    h.server.message("/help")
    h.server.wait_text("🧩 /fix_tests")


def external_handlers_may_keep_an_update(home):
    h = home()
    document = json.loads(h.config.read_text())
    document["externalHandlers"] = [{"template": script(h, "hook", 'grep -q secret && echo consume')}]
    h.config.write_text(json.dumps(document))
    h.connect()
    h.server.message("secret")
    assert answered(h, h.server.press("other:secret", 1)) == ""
    h.server.message("open")
    h.server.wait_text("answer to: [telegram] open")
    assert h.prompts() == ["[telegram] open"], h.prompts()


def sections_are_parts_of_the_menu(home):
    h = home()
    render = script(h, "render", """echo '{"text":"hello <b>x</b>","parseMode":"html",
        "keyboard":[[{"text":"Do","action":"do","payload":"a:b"}]]}'""")
    back = script(h, "back", """grep -q '"payload":"a:b"' && echo '{"answer":"'"$(printf '%0300d' 0)"'","prompt":"from the section"}'""")
    document = json.loads(h.config.read_text())
    document["sections"] = [{"id": "x", "label": "My <part>", "render": render, "callback": back, "commands": ["mine"]},
                            {"id": "bad", "label": "Bad", "render": "false"}]
    h.config.write_text(json.dumps(document))
    h.connect()
    h.server.message("/start")
    menu = h.server.wait_text("state:")[0]
    assert answered(h, h.server.press(button(h, menu, "My <part>"), menu)) == ""
    h.server.wait(lambda: h.server.messages[menu]["visible"] == "hello x")
    assert answered(h, h.server.press(button(h, menu, "Do"), menu)) == "0" * 200
    h.server.wait_text("answer to: [telegram] from the section")
    h.server.message("/mine")
    h.server.wait(lambda: len([t for t in h.server.texts() if t == "hello x"]) == 2)
    h.server.message("/start")
    menu = h.server.wait_text("state:")[-1]
    assert "does not answer" in answered(h, h.server.press(button(h, menu, "Bad"), menu))


GATED = """name: ask
description: asks first
version: "1.0.0"
stages:
  - name: first
    steps:
      - id: one
        type: bash
        command: echo one
    approval:
      required: true
      prompt: "really?"
  - name: second
    steps:
      - id: two
        type: bash
        command: echo two > "$HOME/two"
"""


def recipe(h, name, text):
    directory = h.agent_dir / "recipes"
    directory.mkdir(exist_ok=True)
    (directory / name).write_text(text)


def a_gate_is_answered_with_a_button(home):
    h = home()
    recipe(h, "ask.yaml", GATED)
    h.connect()
    h.server.message("/run ask")
    number = h.server.wait_text("really?")[0]
    data = button(h, number, "Approve")
    assert answered(h, h.server.press(data, number)) == "Approved."
    h.until(lambda: (h.dir / "two").exists())
    h.server.wait(lambda: not h.server.keyboard(number))
    assert "answered" in answered(h, h.server.press(data, number))
    found = [p for p in (h.dir / "state").rglob("gates.json")]
    assert "telegram user 7" in found[0].read_text(), found[0].read_text()


def a_button_works_only_under_its_own_message(home):
    h = home()
    recipe(h, "ask.yaml", GATED)
    (h.dir / "text").write_text('Hi.\n\n<!-- telegram_button label="Go" prompt="pressed" -->\n')
    h.connect()
    other = h.server.message("SAY text")
    number = h.server.wait_text("Hi.")[0]
    data = button(h, number, "Go")
    h.server.message("/run ask")
    gate = h.server.wait_text("really?")[0]
    answer = button(h, gate, "Approve")
    h.server.wait_text("waits for an approval", 2)  # so the bridge has heard of both
    assert "expired" in answered(h, h.server.press(data, gate))
    assert "expired" in answered(h, h.server.press(answer, number))
    assert "expired" in answered(h, h.server.press(answer, 888888)), other
    assert len(h.starts()) == 1 and not (h.dir / "two").exists(), h.prompts()
    assert answered(h, h.server.press(answer, gate)) == "Approved."
    h.until(lambda: (h.dir / "two").exists())
    assert answered(h, h.server.press(data, number)) == "Queued."
    h.server.wait_text("answer to: [telegram] pressed")


def a_question_has_no_escape_sequences(home):
    h = home()
    recipe(h, "ask.yaml", GATED.replace('prompt: "really?"', 'prompt: "really \\e[2J\\e]0;title\\a<b>\\nsecond?"'))
    h.connect()
    h.server.message("/run ask")
    (number,) = h.server.wait_text("second?")
    assert h.server.messages[number]["visible"].endswith("really <b>\nsecond?"), h.server.messages[number]


def an_artifact_with_a_secret_in_its_path_is_sent(home):
    h = home()
    recipe(h, "make.json", json.dumps({"args": ["KEY"], "secrets": ["KEY"], "artifacts": {"m": "made-{KEY}.txt"}, "template": "sh -c 'echo it >made-$0.txt; echo made' {KEY}"}))
    h.connect()
    h.server.message("/run make KEY=hidden-value-77")
    h.server.wait_text("made")
    h.server.wait(lambda: h.server.calls("sendDocument") or [t for t in h.server.texts() if "could not be sent" in t])
    assert h.server.calls("sendDocument"), h.server.texts()
    assert h.server.calls("sendDocument")[0]["files"]["document"] == ("made-***.txt", b"it\n"), h.server.calls("sendDocument")


def what_cannot_be_read_of_a_run_is_said(home):
    h = home()
    recipe(h, "waits.json", json.dumps({"template": "sh -c 'echo out; until [ -e $HOME/go$ROUX_RUN ]; do sleep 0.05; done'"}))
    h.connect()
    for name, words in (("start.json", "its start.json cannot be read."), ("stdout.log", "Its output cannot be read: No such file or directory.")):
        before = set(h.dir.rglob("telegram-waits-*"))
        h.server.message("/run waits")
        (run,) = h.until(lambda: {d for d in h.dir.rglob("telegram-waits-*") if (d / "start.json").exists() and (d / "stdout.log").exists() and list(d.glob("out/0.out"))} - before)
        (run / name).unlink()
        h.touch("go" + run.name)
        h.server.wait_text(words)


def a_secret_is_neither_kept_nor_sent(home):
    h = home()
    recipe(h, "open.json", json.dumps({"args": ["KEY"], "secrets": ["KEY"], "template": "sh -c 'echo out-$0' {KEY}"}))
    recipe(h, "shut.json", json.dumps({"args": ["KEY"], "secrets": ["KEY"], "template": "sh -c 'echo err-$0 >&2; exit 3' {KEY}"}))
    bridge = h.connect()
    h.server.message("/run open KEY=hidden-value-77")
    h.server.wait_text("out-***")
    h.server.message("/run shut")
    h.server.wait_text("KEY?")
    h.server.message("hidden-value-77")
    h.server.wait_text("err-***")
    assert not any("hidden-value-77" in t for t in h.server.texts()), h.server.texts()
    h.stop(bridge)
    for path in (h.dir / "state").glob("ledger.db*"):
        assert b"hidden-value-77" not in path.read_bytes(), path


def run_asks_for_what_is_missing(home):
    h = home()
    recipe(h, "greet.json", json.dumps({"args": ["name:string", "mood:enum(good,bad)"],
                                        "template": "echo hello {name} {mood}"}))
    h.connect()
    h.server.message("/run nothing")
    h.server.wait_text("no recipe called nothing")
    h.server.message("/run ../greet")
    h.server.wait_text("no recipe called ../greet")
    h.server.message("/run greet")
    h.server.wait_text("name?")
    h.server.message("Ada Lovelace")
    number = h.server.wait_text("mood?")[0]
    answered(h, h.server.press(button(h, number, "bad"), number))
    h.server.wait_text("hello Ada Lovelace bad")
    h.server.message("/run greet name=X mood=good")
    h.server.wait_text("hello X good")
    assert not h.starts(), h.prompts()
    h.server.message("/runs")
    h.server.wait_text("telegram-greet-")


def a_recipe_of_a_project_has_to_be_trusted(home):
    h = home(cwd="project")
    directory = h.cwd / ".roux/recipes"
    directory.mkdir(parents=True)
    (directory / "own.json").write_text(json.dumps({"template": "echo from the project"}))
    bridge = h.connect()
    h.server.message("/run own")
    h.server.wait_text("roux trust own")
    document = json.loads(h.config.read_text())
    h.stop(bridge)
    h.config.write_text(json.dumps({**document, "agent": {"recipe": "own"}, "lastUpdateId": 1000}))
    h.connect()
    h.server.message("hello")
    h.server.wait(lambda: len([t for t in h.server.texts() if "roux trust own" in t]) == 2)
    assert not any("from the project" in t for t in h.server.texts()), h.server.texts()
    subprocess.run([h.roux, "trust", "own"], env=h.env, cwd=h.cwd, check=True, capture_output=True)
    h.server.message("/run own")
    h.server.wait_text("from the project")
    h.server.message("hello")
    h.server.wait(lambda: len([t for t in h.server.texts() if "from the project" in t]) == 2)


def a_run_that_failed_has_its_own_name(home):
    h = home()
    recipe(h, "errs.json", json.dumps({"template": "sh -c 'echo broken >&2; exit 3'"}))
    h.connect()
    h.server.message("/run errs")
    h.server.wait_text("errs: failed (run telegram-errs-")
    h.server.wait_text("errs: failed, 1 failed")
    assert not any("agent.py" in t for t in h.server.texts()), h.server.texts()


def a_command_that_could_not_be_started_says_why(home):
    h = home()
    recipe(h, "none.json", json.dumps({"template": "no-such-program"}))
    recipe(h, "nowhere.json", json.dumps({"template": ["sh -c 'echo before >&2'", {"failure": "root", "cwd": "nowhere", "template": "ls"}]}))
    h.connect()
    h.server.message("/run none")
    h.server.wait_text("no-such-program: not found in PATH")
    h.server.message("/run nowhere")
    h.server.wait_text("cwd nowhere: No such file or directory")


def runs_can_be_cancelled(home):
    h = home()
    recipe(h, "slow.json", json.dumps({"template": "sleep 1000"}))
    h.connect()
    h.server.message("/run slow")
    h.server.wait_text("running as")
    h.server.message("/runs")
    number = h.server.wait_text("telegram-slow-", 2)[-1]
    assert "cancelled" in answered(h, h.server.press(button(h, number, "Cancel"), number))
    h.server.wait_text("slow: cancelled")


def a_run_that_waits_for_an_approval_is_not_called_ended(home):
    h = home()
    recipe(h, "ask.yaml", GATED.replace("echo one", 'until test -e "$HOME/go"; do sleep 0.1; done'))
    h.connect()
    h.server.message("/run ask")
    h.server.wait_text("running as")
    h.server.message("/runs")
    number = h.server.wait_text("telegram-ask-", 2)[-1]
    data = button(h, number, "Cancel")
    h.touch("go")
    h.server.wait_text("really?")
    assert "a denial ends it" in answered(h, h.server.press(data, number))


def an_interrupted_turn_can_be_run_again(home):
    h = busy(home)
    h.bridges[0].kill()
    h.bridges[0].wait()
    start = h.starts()[0]
    run = json.loads(next((h.dir / "state").rglob("run.json")).read_text())
    os.kill(run["pid"], 9)
    h.touch("go")
    h.connect()
    number = h.server.wait_text("Interrupted")[0]
    assert len(h.server.keyboard(number)) == 1 and h.server.messages[number]["reply"] == 1, h.server.messages
    assert len(h.starts()) == 1, start
    answered(h, h.server.press(button(h, number, "again"), number))
    h.server.wait_text("answer to: [telegram] WAIT go")
    assert len(h.starts()) == 2


def a_turn_that_never_began_waits_again(home):
    """As a bridge leaves it that is killed while it starts a run: the name is taken, and nothing else is there."""
    h = busy(home)
    h.bridges[0].kill()
    h.bridges[0].wait()
    record = next((h.dir / "state").rglob("run.json"))
    os.kill(json.loads(record.read_text())["pid"], 9)
    for path in record.parent.iterdir():
        path.unlink() if not path.is_dir() else shutil.rmtree(path)
    with sqlite3.connect(h.dir / "state/ledger.db") as ledger:
        ledger.execute("UPDATE run SET started = NULL, ended = NULL, status = 'starting', pid = ?", [h.bridges[0].pid])
    ledger.close()
    h.touch("go")
    h.connect()
    h.server.wait_text("answer to: [telegram] WAIT go")
    assert len(h.starts()) == 2 and not any("Interrupted" in t for t in h.server.texts()), h.server.texts()


def compact_runs_its_command(home):
    h = home()
    document = json.loads(h.config.read_text())
    h.connect()
    h.server.message("/compact")
    h.server.wait_text("Nothing to compact")
    document["agent"]["compact"] = "echo shorter {session}"
    h.config.write_text(json.dumps(document))
    h.server.message("first")
    h.server.wait_text("answer to: [telegram] first")

    def compacted():  # a running bridge takes the change within two seconds
        shown = len(h.server.texts())
        h.server.message("/compact")
        h.server.wait(lambda: len(h.server.texts()) > shown)
        return not h.server.texts()[-1].startswith("Nothing")
    h.until(compacted)
    h.server.wait_text("Compacted.")
    h.server.wait(lambda: h.server.calls("sendChatAction"))


def results_of_other_runs_are_pushed_when_that_is_on(home):
    h = home(proactivePush=True)
    recipe(h, "say.json", json.dumps({"template": "echo from a recipe"}))
    recipe(h, "telegram-say.json", json.dumps({"template": "echo from another"}))
    recipe(h, "ask.yaml", GATED)
    subprocess.run([h.roux, "run", "say"], env=h.env, cwd=h.dir, check=True, capture_output=True)
    h.connect()
    # Those of the chat are told of once, whatever continues them.
    h.server.message("/run ask")
    number = h.server.wait_text("really?")[0]
    answered(h, h.server.press(button(h, number, "Approve"), number))
    h.server.wait_text("Done, without output.")
    shown = len(h.server.texts())
    subprocess.run([h.roux, "run", "say"], env=h.env, cwd=h.dir, check=True, capture_output=True)
    h.server.wait_text("from a recipe")
    subprocess.run([h.roux, "run", "telegram-say"], env=h.env, cwd=h.dir, check=True, capture_output=True)
    h.server.wait_text("from another")
    assert len(h.server.texts()) == shown + 2, h.server.texts()


HELPERS = {busy, waiting, script, button, answered, recipe, held, stopped_while}
TESTS = [f for f in globals().values()
         if callable(f) and getattr(f, "__module__", "") == __name__ and f not in HELPERS]

if __name__ == "__main__":
    sys.exit(harness.main(TESTS, sys.argv[1], sys.argv[2:]))
