"""One kernel of a corpus in a process of its own: lift it, compile it again, run both side by side.

A lift has ten seconds of processor time. What a comparison gave is kept under all that it depends on, so that the same
texts are not run twice.
"""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from types import FrameType
from typing import Any, Final

from intent.records import asdict
from intentc import lift_interpreter, lift_runner
from intentc.lift_check import checked
from intentc.lift_verification import NotRun, verify
from translators.lifting.files import LiftedFile, Wanted, source_of
from translators.lifting.launches import launches
from translators.lifting.lift import Lifted, lift_kernel
from translators.triton_source.read.source import read_file

SECONDS: Final = 10
CALLS: Final = 3
SECONDS_TO_RUN: Final = 60
SECONDS_IN_ALL: Final = 150  # of the process; lifting and comparing have bounds of their own
NOTHING: Final = Wanted()


def run(path: Path, name: str, result: Path, cache: Path, compare: bool) -> None:
    """Without `compare`, only comparisons that were made before count."""
    lift_runner.bound_memory()
    begin = time.process_time()
    record: dict[str, Any] = {"kernel": name}
    text = path.read_text(encoding="utf-8", errors="replace")
    try:
        with bounded_time():
            file = read_file(text, str(path))
            function = next(each for each in file.kernels if each.name == name)
            record["line"] = function.node.lineno
            kernel = lift_kernel(file, function, launches(file).get(name))
            record["seconds"] = round(time.process_time() - begin, 4)
            (kernel,) = checked(LiftedFile(str(path), (kernel,), source_of((kernel,), str(path))), NOTHING).kernels
        record |= _said(kernel, str(path))
        if kernel.source is not None:
            executor = _Executor(cache, compare)
            record["verified"] = asdict(verify(text, str(path), kernel, CALLS, executor.execute))
    except TimeoutError:
        record |= {"status": "timeout", "seconds": SECONDS}
    except Exception as error:  # a fault of ours, which the table shows
        record |= {"status": "crash", "reason": f"{type(error).__name__}: {error}"}
    result.parent.mkdir(parents=True, exist_ok=True)
    result.write_text(json.dumps(record, indent=1), encoding="utf-8")


@contextmanager
def bounded_time() -> Iterator[None]:
    """Raises TimeoutError after some seconds of processor time."""
    signal.signal(signal.SIGPROF, _out_of_time)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def _out_of_time(signum: int, frame: FrameType | None) -> None:
    raise TimeoutError


def _said(kernel: Lifted, path: str) -> dict[str, Any]:
    return {
        "status": kernel.status,
        "reason": kernel.reason,
        "groups": list(kernel.groups),
        "chosen": [note.text for note in kernel.notes if "another kernel" in note.text],
        "source": source_of((kernel,), path) if kernel.source is not None else None,
    }


# ------------------------------------------------------------------------------------------------------------- running
class _Executor:
    """Runs the requests of a comparison, or knows what they gave."""

    def __init__(self, cache: Path, compare: bool) -> None:
        self.cache = cache
        self.compare = compare

    def execute(self, request: dict[str, Any]) -> str:
        known = self.cache / f"{_key(request)}.json"
        if known.exists():
            answer = json.loads(known.read_text(encoding="utf-8"))
        elif self.compare:
            answer = _in_a_fork(request)
            self.cache.mkdir(parents=True, exist_ok=True)
            fresh = known.with_suffix(".new")
            fresh.write_text(json.dumps(answer), encoding="utf-8")
            fresh.replace(known)
        else:
            answer = [False, "not compared yet"]
        if not answer[0]:
            raise NotRun(answer[1])
        return str(answer[1])


def _key(request: dict[str, Any]) -> str:
    """Of everything that the answer depends on: the request, the files of both sides, and what runs them."""
    made = hashlib.sha256()
    for runner in (lift_runner, lift_interpreter):
        made.update(Path(runner.__file__).read_bytes())
    for side in request["sides"]:
        for path in sorted(Path(side["directory"]).glob("*.py")):
            made.update(path.name.encode() + path.read_bytes())
    sides = [{key: value for key, value in side.items() if key != "directory"} for side in request["sides"]]
    made.update(json.dumps({**request, "sides": sides}, sort_keys=True).encode())
    return made.hexdigest()[:24]


def _in_a_fork(request: dict[str, Any]) -> tuple[bool, str]:
    """The results of a comparison, or why there are none, from a copy of this process: it has Triton loaded."""
    context = multiprocessing.get_context("fork")
    receiving, sending = context.Pipe(duplex=False)
    process = context.Process(target=_answer, args=(json.loads(json.dumps(request)), sending))
    process.start()
    sending.close()
    answer: tuple[bool, str] = (False, f"it took longer than {SECONDS_TO_RUN} seconds")
    if receiving.poll(SECONDS_TO_RUN):
        try:
            answer = receiving.recv()
        except EOFError:
            answer = (False, "the process failed")
    else:
        process.kill()
    process.join()
    return answer


def _answer(request: dict[str, Any], sending: Connection) -> None:
    try:
        sending.send((True, json.dumps(lift_runner.results_of(request))))
    except Exception as error:  # whatever the kernel of a stranger does
        sending.send((False, f"{type(error).__name__}: {error}"))
