"""Answers that go wrong in every way, for the processes that servers have answer for them."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path

from intentc.failure import UsageError
from intentc.serving.answers import Answer


def answer(name: str, arguments: Mapping[str, object]) -> Answer:
    path = Path(str(arguments.get("path", "")))
    match name:
        case "process":
            return Answer((), {"process": os.getpid()})
        case "sleep":
            time.sleep(60)
        case "compute":
            while True:
                pass
        case "allocate":
            bytearray(2**30)
        case "hold":
            bytearray(2**28 + 2**27)
            return Answer((), {"process": os.getpid()})
        case "talk":
            return Answer(("x" * 3_000_000,), {})
        case "die":
            os._exit(7)
        case "refuse":
            raise UsageError("there is no such thing")
        case "fail":
            raise KeyError("a bug")
        case "print":
            print("this is no answer")
            return Answer(("answered",), {})
        case "read":
            path.read_text(encoding="utf-8")
        case "write":
            path.write_text("written", encoding="utf-8")
        case "append":
            with path.open("a", encoding="utf-8") as file:
                file.write("written")
        case "remove":
            path.unlink()
        case "folder":
            path.mkdir()
        case "rename":
            path.rename(path.with_suffix(".moved"))
        case "run":
            subprocess.run(["true"], check=True)
        case "shell":
            os.system("true")
        case "connect":
            socket.create_connection(("127.0.0.1", 9), timeout=1)
    return Answer(("done",), {})
