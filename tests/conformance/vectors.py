"""What the runners share: where the cases come from, and what a busy machine may do to them."""

import json
import os
import pathlib

WATCHDOG = 300  # seconds; only what hangs takes so long
TIMES = 8


def load(folders):
    """All cases as (name of the folder, name of the file, case). With ONLY in the environment only
    those whose name has that text in it."""
    part = os.environ.get("ONLY", "")
    return [(folder.name, file.stem, case) for folder in map(pathlib.Path, folders) for file in sorted(folder.glob("*.json"))
            for case in json.loads(file.read_text(encoding="utf-8")) if part in case["name"]]


def timed(case):
    """Whether it is about time: then it is judged while no other case is."""
    text = json.dumps(case)
    return any(word in text for word in ("sleep", "min_ms", "max_ms", "timeout", "date +", "delay", "seconds"))


def ask_again(judge, roux, case):
    """A case that is about time has bounds that a busy machine misses: a command that must have begun within
    200 ms, a run that must end within 700. What waits or ends wrongly does so every time it is asked."""
    for _ in range(TIMES if timed(case) else 1):
        bad = judge(roux, case)
        if not bad:
            return bad
    return bad
