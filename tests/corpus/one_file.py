"""One file of a corpus in a process of its own: lift every kernel, compile it again, run both side by side.

Writes one record per kernel. A kernel has ten seconds of processor time; a comparison that was made before for the
same texts is not made again.
"""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import resource
import signal
import time
from multiprocessing.connection import Connection
from pathlib import Path
from types import FrameType
from typing import Any, Final

from intent.records import asdict
from intentc.commands.lift import checked
from intentc.lift_runner import results_of
from intentc.lift_slices import sliced
from intentc.lift_verification import NotRun, Verification, verify
from translators.lifting.files import LiftedFile, Wanted, source_of
from translators.lifting.launches import launches
from translators.lifting.lift import Lifted, lift_kernel
from translators.triton_source.read.source import TritonFile, read_file

SECONDS: Final = 10
MEMORY: Final = 20 * 2**30  # bytes of address space; a process that compares reserves most of it
CALLS: Final = 3
SECONDS_TO_RUN: Final = 60
NOTHING: Final = Wanted()


def run(path: Path, result: Path, cache: Path, compare: bool) -> None:
    """Without `compare`, only comparisons that were made before count."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    signal.signal(signal.SIGPROF, _out_of_time)
    text = path.read_text(encoding="utf-8", errors="replace")
    records = list(_records(text, str(path), cache, compare))
    result.parent.mkdir(parents=True, exist_ok=True)
    result.write_text(json.dumps(records, indent=1), encoding="utf-8")


def in_a_fork(request: dict[str, Any]) -> str:
    """The results of a comparison, from a copy of this process: it has Triton loaded."""
    context = multiprocessing.get_context("fork")
    receiving, sending = context.Pipe(duplex=False)
    process = context.Process(target=_answer, args=(json.loads(json.dumps(request)), sending))
    process.start()
    sending.close()
    if not receiving.poll(SECONDS_TO_RUN):
        process.kill()
        raise NotRun(f"it took longer than {SECONDS_TO_RUN} seconds")
    try:
        answer: tuple[bool, str] = receiving.recv()
    except EOFError:
        answer = (False, "the process failed")
    process.join()
    if not answer[0]:
        raise NotRun(answer[1])
    return answer[1]


def _answer(request: dict[str, Any], sending: Connection) -> None:
    try:
        sending.send((True, json.dumps(results_of(request))))
    except Exception as error:  # whatever the kernel of a stranger does
        sending.send((False, f"{type(error).__name__}: {error}"))


def _out_of_time(signum: int, frame: FrameType | None) -> None:
    raise TimeoutError


def _records(text: str, path: str, cache: Path, compare: bool) -> Any:  # noqa: ANN401
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        file = read_file(text, path)
        known = launches(file)
    except SyntaxError:
        return
    except TimeoutError:
        yield {"kernel": "", "status": "timeout", "reason": "reading the host code"}
        return
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    for function in file.kernels:
        begin = time.process_time()
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        try:
            kernel = lift_kernel(file, function, known.get(function.name))
            seconds = time.process_time() - begin
            (kernel,) = checked(LiftedFile(path, (kernel,), source_of((kernel,), path)), NOTHING).kernels
        except TimeoutError:
            yield {"kernel": function.name, "line": function.node.lineno, "status": "timeout", "seconds": SECONDS}
            continue
        except Exception as error:  # a fault of ours, which the table shows
            reason = f"{type(error).__name__}: {error}"
            yield {"kernel": function.name, "line": function.node.lineno, "status": "crash", "reason": reason}
            continue
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
        yield _record(file, kernel, seconds, (cache, compare))


def _record(file: TritonFile, kernel: Lifted, seconds: float, compared: tuple[Path, bool]) -> dict[str, Any]:
    record: dict[str, Any] = {
        "kernel": kernel.name,
        "line": kernel.line,
        "status": kernel.status,
        "reason": kernel.reason,
        "seconds": round(seconds, 4),
        "groups": list(kernel.groups),
        "chosen": [note.text for note in kernel.notes if "another kernel" in note.text],
    }
    if kernel.source is not None:
        record["source"] = source_of((kernel,), file.path)
        record["verified"] = asdict(_verified(file, kernel, *compared))
    return record


def _verified(file: TritonFile, kernel: Lifted, cache: Path, compare: bool) -> Verification:
    original = sliced(file, kernel.name)
    compared = json.dumps([original, source_of((kernel,), file.path), repr(kernel.correspondence), CALLS])
    known = cache / f"{hashlib.sha256(compared.encode()).hexdigest()[:24]}.json"
    if known.exists():
        return Verification(**json.loads(known.read_text(encoding="utf-8")))
    if not compare:
        return Verification(0, 0, "not compared yet")
    text = Path(file.path).read_text(encoding="utf-8", errors="replace")
    found = verify(text, file.path, kernel, CALLS, in_a_fork)
    cache.mkdir(parents=True, exist_ok=True)
    known.write_text(json.dumps(asdict(found)), encoding="utf-8")
    return found
