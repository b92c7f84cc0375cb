"""A graph with sequence, parallel, retry, recover and repeat, whose commands append one line each, and what
becomes of it when it is cut short and resumed."""

import collections
import json
import os

from harness import Place, require, same, settled

# One line in one write, then the output; fails until its attempt FIRST_GOOD.
LEAF = """#!/bin/sh
in=$(cat)
echo "$ROUX_LEAF $ROUX_ATTEMPT" >>lines
echo "$1 [$in]"
echo "$1 on attempt $ROUX_ATTEMPT" >&2
[ "$ROUX_ATTEMPT" -ge "${2:-1}" ]
"""

GRAPH = {
    "template": [
        "./leaf begin",
        {
            "parallel": True,
            "template": [
                "./leaf left",
                ["./leaf first", "./leaf second"],
                {"retry": 3, "template": "./leaf stubborn 3"},
            ],
        },
        {
            "retry": 3,
            "failure": "branch",
            "recover": ["./leaf mend", "./leaf mended"],
            "template": ["./leaf prepare", "./leaf often 3", "./leaf after"],
        },
        {"failure": "continue", "template": "./leaf never 99"},
        {"repeat": 3, "template": "./leaf copy"},
        {"parallel": True, "repeat": 2, "template": ["./leaf both", {"label": "named", "template": "./leaf ends"}]},
        "./leaf end",
    ]
}


def prepare(place):
    with open(place.path("leaf"), "w") as f:
        f.write(LEAF)
    os.chmod(place.path("leaf"), 0o755)
    with open(place.path("graph.json"), "w") as f:
        json.dump(GRAPH, f)


START = ["run", "--as", "it", "--json", "@graph.json"]
GIVEN = b"given"


def undisturbed(given):
    with Place() as place:
        prepare(place)
        answer = place.roux(*START, input=given or b"")
        lines = place.lines()
        require(answer.json["status"] == "done" and len(set(lines)) == len(lines), answer, lines)
        return answer, set(lines)


EXPECTED = {given: undisturbed(given) for given in (None, GIVEN)}


def recorded(place):
    """What has an exit on disk: `path number`. The last line of an execution counts."""
    last = {f'{r["p"]} {r["a"]}': r for r in place.records("it") if r["s"] == "exit"}
    return {key for key, r in last.items() if not r.get("cancelled")}


def started(place):
    return {f'{r["p"]} {r["a"]}' for r in place.records("it") if r["s"] == "start"}


def counted(place):
    return collections.Counter(place.lines())


def not_again(place, what, known, before):
    """Nothing that was recorded has run once more."""
    now = counted(place)
    for key in known:
        same(now[key], before[key], what, f"{key} was recorded and has run again", place.read("it", "leaves.jsonl"))


def go_on(place, what, given=None):
    """Resumes what was killed and compares with the undisturbed run."""
    expected, lines = EXPECTED[given]
    known, before = recorded(place), counted(place)
    answer = place.roux("resume", "it", "--json")
    if answer.code == 2:
        # Killed before there was anything to resume: nothing has run, and the id can be used again.
        require(not before and not started(place), what, "commands have run, but it cannot be resumed:", answer)
        answer = place.roux(*START, input=given or b"")
    not_again(place, what, known, before)
    same(set(counted(place)), lines, what, "every line is there", answer)
    same(answer.code, expected.code, what, answer)
    same(settled(answer.json), settled(expected.json), what)
    same(settled(place.document("it", "result.json"))["failures"], settled(expected.json)["failures"], what)
    same(place.read("it", "stdout.log"), expected.json["stdout"], what, "stdout.log")
    seqs = [e["seq"] for e in place.records("it", "events.jsonl")]
    same(seqs, list(range(1, len(seqs) + 1)), what, "seq without gaps")
    place.gone()


def input_kept(place):
    """A pipe that was not read to its end when roux was killed cannot be read again."""
    try:
        with open(place.dir("it", "stdin"), "rb") as f:
            return f.read() == GIVEN
    except FileNotFoundError:
        return not os.path.exists(place.dir("it", "run.json"))


def no_guess(place, what):
    """Without its input a run is not taken for a good one."""
    answer = place.roux("resume", "it", "--json")
    if answer.code != 2:
        same(settled(answer.json), settled(EXPECTED[GIVEN][0].json), what, "it has gone on without its input")
