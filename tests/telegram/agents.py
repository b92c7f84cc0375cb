#!/usr/bin/env python3
"""usage: agents.py ROUX [NAME...]     what agents are given and tell, and results of other runs"""

import json
import subprocess
import sys

import botapi
import harness


def configure(h, **agent):
    document = json.loads(h.config.read_text())
    document["agent"].update(agent)
    h.config.write_text(json.dumps(document))


def prompts(h, **files):
    """Files of the prompts configuration."""
    directory = h.dir / ".config/start"
    directory.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (directory / f"{name}.toml").write_text(text)


def recipe(h, name, text):
    directory = h.agent_dir / "recipes"
    directory.mkdir(exist_ok=True)
    (directory / name).write_text(text)


def roux(h, *words):
    done = subprocess.run([h.roux, *words], env=h.env, cwd=h.dir, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done
    return done.stdout


def only_the_agent_speaks_in_lines_of_json(home):
    h = home()
    configure(h, stream="jsonl")
    (h.dir / "text").write_text('{"type":"result","text":"from the agent"}')
    recipe(h, "say.json", json.dumps({"template": "echo from a recipe"}))
    recipe(h, "tell.json", json.dumps({"template": "echo from another"}))
    h.connect()
    h.server.message("/run say")
    h.server.wait_text("from a recipe")
    roux(h, "run", "tell", "--detach", "--notify")
    h.server.wait_text("from another")
    h.server.message("SAY text")
    h.server.wait_text("from the agent")


def a_transcript_is_put_before_the_prompt(home):
    h = home()
    configure(h, history={"mode": "transcript", "turns": 2})
    bridge = h.connect()
    for n, word in enumerate(("one", "two", "three")):
        h.server.message(word)
        h.server.wait(lambda: len(h.server.messages) == n + 1)
    h.stop(bridge)
    h.connect()
    h.server.message("four")
    h.until(lambda: len(h.starts()) == 4)
    assert h.prompts()[0] == "[telegram] one", h.prompts()
    last = h.prompts()[3]
    assert last.startswith("[history] ") and last.endswith("\n\n[now]\n[telegram] four"), last
    assert "[telegram] two\n\n[answer] answer to: " in last and "[telegram] three\n\n[answer] " in last, last
    h.server.wait(lambda: len(h.server.messages) == 4)
    h.until(lambda: h.status()["turn"] is None)
    h.server.message("/compact")
    h.server.wait_text("one line stands for the 2 turns")
    h.server.message("five")
    h.until(lambda: len(h.starts()) == 5)
    assert "(2 earlier turns are left out; the last one: " in h.prompts()[4], h.prompts()[4]
    assert "[answer]" not in h.prompts()[4], h.prompts()[4]


def tasks_are_commands(home):
    h = home()
    prompts(h, agents="[agents.a]\nbin = 'cat'\ncommand = '{bin}'\n",
            tasks="[tasks.code-review]\nprompt = 'Review {instructions} with care.'\n")
    h.connect()
    h.server.message("/help")
    h.server.wait_text("🧩 /code_review")
    h.server.message("/code_review the 'last' change")
    h.until(lambda: len(h.starts()) == 1)
    assert h.prompts() == ["[telegram] Review the 'last' change with care."], h.prompts()


def an_agent_of_the_prompts_configuration_answers(home):
    h = home()
    prompts(h, agents="[agents.echo]\nbin = 'cat'\ncommand = '{bin}'\nstdin = 'prompt'\ndefault_model = 'big'\n"
                      "[agents.echo.models]\nsmall = 'm-1'\nbig = 'm-2'\n",
            tasks="[tasks.review]\nprompt = 'Review {instructions} with care.'\n")
    document = json.loads(h.config.read_text())
    document["agent"] = {"name": "echo"}
    h.config.write_text(json.dumps(document))
    h.connect()
    h.server.message("hello")
    text = h.server.messages[h.server.wait_text("[telegram] hello")[0]]["visible"]
    assert text.startswith("You answer in a Telegram chat") and "roux telegram attach" in text, text
    h.server.message("/review it")
    h.server.wait_text("Review it with care.")
    h.server.message("/model")
    menu = h.server.wait_text("now: big")[0]
    h.server.press("menu:back", menu)
    h.server.wait(lambda: "state:" in h.server.messages[menu]["visible"])
    h.server.press("menu:model", menu)
    h.server.wait(lambda: "now: big" in h.server.messages[menu]["visible"])
    assert [label for label, data in h.server.keyboard(menu) if data.startswith("model:open")] == ["✅ big", "small"], \
        h.server.keyboard(menu)


def a_level_of_thinking_is_for_models_that_think(home):
    h = home()
    configure(h, template="echo level={thinking=none}", models=[{"id": "a", "thinking": True}, {"id": "b"}],
              thinking=["low", "high"])
    h.connect()
    h.server.message("hello")
    h.server.wait_text("level=low")
    h.server.message("/model")
    menu = h.server.wait_text("now: a")[0]
    h.server.press("model:open:1", menu)
    h.server.press("model:pick:1", menu)
    h.server.message("again")
    h.server.wait_text("level=none")


def a_turn_of_a_recipe_or_a_named_agent_has_its_time(home):
    for kind in ("recipe", "name"):
        h = home()
        recipe(h, "slow.json", json.dumps({"template": "sleep 86400"}))
        prompts(h, agents="[agents.slow]\nbin = 'sleep'\ncommand = '{bin} 86400'\n")
        document = json.loads(h.config.read_text())
        document["agent"] = {kind: "slow", "timeout": 300}
        h.config.write_text(json.dumps(document))
        h.connect()
        h.server.message("hello")
        h.server.wait_text("slow: timeout (run ")
        h.until(lambda: h.status()["turn"] is None)


def usage_of_a_stream_is_shown(home):
    h = home()
    lines = [{"type": "text", "text": "half "}, {"type": "usage", "input": 1200, "output": 34, "cost": 0.0123,
                                                 "context": 5000, "context_window": 200000}, {"type": "text", "text": "whole"}]
    (h.dir / "text").write_text("".join(json.dumps(line) + "\n" for line in lines))
    configure(h, stream="jsonl")
    h.connect()
    h.server.message("/start")
    h.server.wait_text("state:")
    assert not any("usage:" in t for t in h.server.texts()), h.server.texts()
    h.server.message("SAY text")
    h.server.wait_text("half whole")
    h.server.message("/start")
    text = h.server.messages[h.server.wait_text("usage:")[0]]["visible"]
    for row in ("usage: 1200 tokens in, 34 out", "cost: $0.0123", "context: 5000 of 200000 tokens (2%)"):
        assert row in text, text


def a_tool_that_runs_is_shown(home):
    h = home(preview={"mode": "edit", "interval": 200})
    script = h.dir / "tool"
    script.write_text("""#!/bin/sh
printf '{"type":"text","text":"so far"}\\n{"type":"tool","name":"bash"}\\n'
until [ -e "$HOME/go" ]; do sleep 0.05; done
""")
    script.chmod(0o755)
    configure(h, template=str(script), stream="jsonl")
    h.connect()
    h.server.message("x")
    h.server.wait_text("so far")
    h.server.message("/start")
    h.server.wait_text("tool running: bash for ")
    h.touch("go")


def a_secret_is_hidden_while_a_turn_runs_and_however_it_is_written(home):
    """A stream may cut it, write it with other escapes, or have it as a number."""
    secret = "hidd\u00e9n/value-77"
    for stream, lines in (("text", [f"so far {secret}"]),
                          ("jsonl", [json.dumps({"type": "text", "text": f"so far {secret[:5]}"}), json.dumps({"type": "text", "text": secret[5:]})]),
                          ("jsonl", ['{"type":"text","text":"so far hidd\\u00E9n\\/value-77"}']),
                          ("jsonl", ['{"type":"text","text":"so far ***"}', '{"type":"usage","input":86753091234,"output":1}'])):
        h = home(preview={"mode": "edit", "interval": 200})
        (h.dir / "lines").write_text("\n".join(lines) + "\n")
        script = h.dir / "says"
        script.write_text('#!/bin/sh\ncat "$HOME/lines"\nuntil [ -e "$HOME/go" ]; do sleep 0.05; done\n')
        script.chmod(0o755)
        configure(h, template={"template": str(script), "secrets": ["KEY", "PIN"], "values": {"KEY": secret, "PIN": 86753091234}}, stream=stream)
        h.connect()
        h.server.message("x")
        h.server.wait_text("so far")
        h.touch("go")
        h.until(lambda: h.status()["turn"] is None)
        h.server.message("/start")
        h.server.wait_text("state:")
        h.server.wait_text("so far ***")
        sent = json.dumps([c["params"] for c in h.server.calls()], ensure_ascii=False)
        assert "value-77" not in sent and "86753091234" not in sent, sent


def a_section_does_not_tell_the_token(home):
    h = home()
    script = h.dir / "section"
    script.write_text(f"""#!/bin/sh
cat >/dev/null
echo '{{"text":"it is {botapi.TOKEN}.","keyboard":[[{{"text":"{botapi.TOKEN}","data":"x"}}]]}}'
""")
    script.chmod(0o755)
    document = json.loads(h.config.read_text())
    document["sections"] = [{"id": "x", "label": "Mine", "render": str(script), "commands": ["mine"]}]
    h.config.write_text(json.dumps(document))
    h.connect()
    h.server.message("/mine")
    h.server.wait_text("it is ")
    sent = json.dumps([c["params"] for c in h.server.calls()])
    assert botapi.TOKEN not in sent, sent


def an_answer_of_many_megabytes_is_a_file(home):
    h = home(preview={"mode": "edit", "interval": 200})
    text = "".join(f"line {n} " + "x" * 100 + "\n" for n in range(60000))
    (h.dir / "text").write_text(text + "\n<!-- telegram_button: More -->\n")
    h.connect()
    h.server.message("SAY text")
    h.server.wait(lambda: h.server.calls("sendDocument"))
    name, data = h.server.calls("sendDocument")[0]["files"]["document"]
    assert name == "answer.md" and data.decode().startswith("line 0 ") and b"line 59999 " in data, (name, len(data))
    assert any(h.server.keyboard(n) for n in h.server.wait_text("line 0 ")), h.server.messages
    h.server.message("next")
    h.server.wait_text("answer to: [telegram] next")


def a_file_of_text_speaks_for_itself(home):
    h = home()
    text = "words\n" * 20000
    h.server.files = {"t": ("documents/a.txt", text.encode())}
    h.connect()
    h.server.message(caption="read", document={"file_id": "t", "file_unique_id": "1", "file_name": "a.txt",
                                               "mime_type": "text/plain", "file_size": len(text)})
    h.until(lambda: len(h.starts()) == 1)
    assert h.prompts()[0].count("words") == 20000, h.prompts()[0][:300]


def a_token_that_is_sent_by_mistake_is_not_kept(home):
    h = home()
    recipe(h, "fails.json", json.dumps({"args": ["x"], "template": "false {x}"}))
    bridge = h.connect()
    h.server.message(f"my token is {botapi.TOKEN}")
    h.server.wait_text("<redacted-token>")
    h.server.message(f"/run fails x={botapi.TOKEN}")
    h.server.wait_text("fails: failed")
    h.stop(bridge)
    where = subprocess.run(["grep", "-rlF", botapi.TOKEN, str(h.dir)], capture_output=True, text=True).stdout.split()
    assert set(where) == {str(h.config)}, where


def every_run_has_the_token_as_a_secret(home):
    h = home()
    h.connect()
    h.server.message("one")
    h.server.wait_text("answer to: [telegram] one")
    start = json.loads(next((h.dir / "state").rglob("start.json")).read_text())
    assert start["secret_files"] == [{"file": str(h.config), "member": "botToken"}], start


def another_person_starts_anew(home):
    h = home()
    configure(h, history={"mode": "transcript"})
    bridge = h.connect()
    h.server.message("mine")
    h.server.wait_text("answer to: [telegram] mine")
    h.server.message("WAIT never")
    h.until(lambda: len(h.starts()) == 2)
    h.server.message("waits")
    h.until(lambda: h.status()["queue"]["default"] == 1)
    h.stop(bridge)
    h.run("unpair", check=True)
    h.run("disconnect", "--abort", check=True)
    h.connect()
    h.server.message("hello", user=12)
    h.server.wait_text("Paired")
    h.server.wait_text("answer to: [telegram] hello")
    assert h.prompts()[2:] == ["[telegram] hello"], h.prompts()


def folded_prompts_bring_their_files(home):
    h = home()
    h.server.files = {"t": ("documents/a.bin", b"bytes")}
    h.connect()
    h.server.message("WAIT never")
    h.until(lambda: len(h.starts()) == 1)
    h.server.message(caption="first", document={"file_id": "t", "file_unique_id": "1", "file_name": "a.bin"})
    h.server.message("second")
    h.until(lambda: h.status()["queue"]["default"] == 2)
    h.server.message("/abort")
    h.server.message("third")
    h.until(lambda: len(h.starts()) == 2)
    prompt = h.prompts()[1]
    assert prompt.index("first") < prompt.index("second") < prompt.index("third") < prompt.index("[attachments]"), prompt
    assert prompt.endswith("-a.bin"), prompt


def a_run_that_asks_for_it_is_told_of_once(home):
    h = home()
    recipe(h, "say.json", json.dumps({"template": "echo from a recipe"}))
    recipe(h, "fails.json", json.dumps({"template": "sh -c 'echo from a failure; exit 1'"}))
    roux(h, "run", "say", "--notify", "--as", "first")
    subprocess.run([h.roux, "run", "fails", "--notify"], env=h.env, cwd=h.dir, capture_output=True)
    roux(h, "run", "say", "--as", "silent")
    bridge = h.connect()
    h.server.wait_text("from a recipe")
    h.stop(bridge)
    h.connect()
    roux(h, "rerun", "first", "--all", "--detach", "--notify")
    h.server.wait_text("from a recipe", 2)
    h.run("push", "the end", check=True)
    h.server.wait_text("the end")
    assert [t.strip() for t in h.server.texts()] == ["from a recipe", "from a recipe", "the end"], h.server.texts()


def a_recipe_of_the_chat_survives_a_kill(home):
    h = home()
    recipe(h, "slow.json", json.dumps({"template": "sh -c 'until [ -e $HOME/go ]; do sleep 0.05; done; echo slow end'"}))
    bridge = h.connect()
    h.server.message("/run slow")
    h.server.wait_text("running as")
    h.stop(bridge, 9)
    h.touch("go")
    h.connect()
    h.server.wait_text("slow end")


def a_value_may_have_spaces(home):
    h = home()
    recipe(h, "greet.json", json.dumps({"args": ["name:string", "mood:string"], "template": "echo [{name}] [{mood}]"}))
    h.connect()
    h.server.message("/run greet name=Ada King mood=very good")
    h.server.wait_text("[Ada King] [very good]")


HELPERS = {configure, prompts, recipe, roux}
TESTS = [f for f in globals().values()
         if callable(f) and getattr(f, "__module__", "") == __name__ and f not in HELPERS]

if __name__ == "__main__":
    sys.exit(harness.main(TESTS, sys.argv[1], sys.argv[2:]))
