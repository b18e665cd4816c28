"""Calls that are answered by processes of their own, within limits: time, memory, and the size of the answer."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Mapping
from typing import Final

from intent.records import dataclass, field
from intentc.serving.worker import LONGEST_ANSWER

SECONDS: Final = 10.0  # for one call
STARTING: Final = 60.0  # seconds for a process to load the compiler, which may have to be translated to bytecode first
AT_ONCE: Final = 2  # calls; others wait
BUG: Final = "this is a bug of intentc, not a mistake in the program; please report it with the program's text"


class CallFailed(Exception):
    """There is no answer; the message says why, in the client's terms."""


@dataclass(slots=True)
class Calls:
    """Processes that answer with `module`, started when they are needed and used again.

    `confined`: they may open no files but those of Python and of this project.
    """

    module: str
    confined: bool
    seconds: float = SECONDS
    _idle: list[Process] = field(default_factory=list)
    _slots: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(AT_ONCE))

    async def call(self, name: str, arguments: Mapping[str, object]) -> tuple[list[str], dict[str, object]]:
        """Texts and data of the answer. Raises CallFailed where there is none."""
        async with self._slots:
            process = self._idle.pop() if self._idle else await self._start()
            try:
                reply = await asyncio.wait_for(_exchange(process, name, arguments), self.seconds)
            except asyncio.TimeoutError:
                raise CallFailed(f"this takes longer than the {self.seconds:g} s that a call may take") from None
            except EOFError:
                raise CallFailed(f"the process that answers came to an end: {BUG}") from None
            else:
                if not reply["last"]:
                    self._idle.append(process)
            finally:
                if process not in self._idle:
                    await _end(process)
        return _parts(reply)

    async def prepare(self) -> None:
        """Have a process ready before the first call."""
        async with self._slots:
            self._idle.append(await self._start())

    async def close(self) -> None:
        """End the processes."""
        for process in self._idle:
            await _end(process)
        self._idle.clear()

    async def _start(self) -> Process:
        # With this path for imports, and not with the folder that the server runs in, where a user's files are.
        code = f"import sys; sys.path[:] = {sys.path!r}; from intentc.serving.worker import main; main()"
        command = [sys.executable, "-c", code, self.module, *(["--confined"] if self.confined else [])]
        process = await asyncio.create_subprocess_exec(*command, stdin=PIPE, stdout=PIPE, limit=2 * LONGEST_ANSWER)
        try:
            await asyncio.wait_for(_line(process), STARTING)
        except (EOFError, asyncio.TimeoutError):
            await _end(process)
            raise CallFailed(f"the process that answers does not start: {BUG}") from None
        except BaseException:
            await _end(process)
            raise
        return process


async def _exchange(process: Process, name: str, arguments: Mapping[str, object]) -> dict[str, object]:
    assert process.stdin is not None
    process.stdin.write(json.dumps({"name": name, "arguments": arguments}).encode() + b"\n")
    with contextlib.suppress(ConnectionError):
        await process.stdin.drain()
    return await _line(process)


async def _line(process: Process) -> dict[str, object]:
    """The next message of the process. Raises EOFError if it has ended."""
    assert process.stdout is not None
    line = await process.stdout.readline()
    if not line.endswith(b"\n"):
        raise EOFError
    message: dict[str, object] = json.loads(line)
    return message


async def _end(process: Process) -> None:
    with contextlib.suppress(ProcessLookupError):
        process.kill()
    await process.wait()


def _parts(reply: Mapping[str, object]) -> tuple[list[str], dict[str, object]]:
    if "refused" in reply:
        raise CallFailed(str(reply["refused"]))
    if "failure" in reply:
        raise CallFailed(f"internal error: {reply['failure']}; {BUG}")
    texts, data = reply["texts"], reply["data"]
    assert isinstance(texts, list) and isinstance(data, dict)
    return texts, data
