"""The process that does the work of a server: a request a line in, an answer a line out, both JSON.

    {"name": "api", "arguments": {"name": "I.exp"}}   ->   {"texts": [...], "data": {...}, "last": false}

Instead of texts and data there is `refused` where what is asked for does not exist, or `failure` for a bug of ours.
`last` says that the process ends now, because a call used much memory; its server starts another.

The arguments are MODULE [--confined]. MODULE has `answer(name, arguments)` and, if something has to be loaded before
the process is confined, `prepare()`.
"""

from __future__ import annotations

import contextlib
import json
import signal
import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, BinaryIO, Final

from intentc.failure import UsageError
from intentc.serving.confinement import confine, limit_memory, memory_used

if TYPE_CHECKING:
    from intentc.serving.answers import Answer

MOST_KEPT: Final = 2**28  # bytes that a process may have used and still take another request
LONGEST_ANSWER: Final = 2**21  # characters of JSON
ORPHANED: Final = 60  # seconds after which a call is given up even if nobody waits for it any more

Answering = Callable[[str, Mapping[str, object]], "Answer"]


def main() -> None:
    """Answer until standard input ends."""
    output, sys.stdout = sys.stdout.buffer, sys.stderr  # nothing else may print between the answers
    module = import_module(sys.argv[1])
    with contextlib.suppress(AttributeError):
        module.prepare()
    limit_memory()
    if "--confined" in sys.argv:
        confine()
    _say(output, {"ready": True})
    for line in sys.stdin.buffer:
        request = json.loads(line)
        reply = _bounded(module.answer, request["name"], request["arguments"])
        _say(output, reply)
        if reply["last"]:
            return


def _bounded(answer: Answering, name: str, arguments: Mapping[str, object]) -> dict[str, object]:
    """The reply to one request. The server waits less long; the alarm is for when the server is gone."""
    if hasattr(signal, "alarm"):
        signal.alarm(ORPHANED)
    try:
        reply = _reply(answer, name, arguments)
    except MemoryError:
        return {"refused": "this needs more memory than the 1 GiB that a call may use", "last": True}
    if hasattr(signal, "alarm"):
        signal.alarm(0)
    return {**reply, "last": memory_used() > MOST_KEPT}


def _reply(answer: Answering, name: str, arguments: Mapping[str, object]) -> dict[str, object]:
    try:
        found = answer(name, arguments)
    except UsageError as error:
        return {"refused": str(error)}
    except MemoryError:
        raise
    except Exception as error:
        said = str(error).partition("\n")[0]
        return {"failure": f"{type(error).__name__}: {said}" if said else type(error).__name__}
    reply: dict[str, object] = {"texts": list(found.texts), "data": found.data}
    if len(json.dumps(reply)) > LONGEST_ANSWER:
        return {"refused": f"the answer is longer than the {LONGEST_ANSWER} characters that an answer may have"}
    return reply


def _say(output: BinaryIO, reply: Mapping[str, object]) -> None:
    output.write(json.dumps(reply).encode() + b"\n")
    output.flush()
