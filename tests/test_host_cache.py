"""The disk cache: what it is keyed by, what it refuses to use, its bounds, and several processes at once."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from command_line import ROOT

import intent
from intent.host import cache as cache_module
from intent.host import compilation
from intent.host.cache import DiskCache, user_cache
from intent.host.compilation import make_request, translate
from intent.targets import TritonTarget
from translators import pipeline

KERNEL = """import intent
import intent.language as I
{imports}

@intent.kernel
def k(x: I.In[I.f32, ("N",)], out: I.Out[I.f32, ("N",)], amount: I.Constexpr[int] = 1):
    out[:] = x[:] + {value}
"""
RUN = "import sys, numpy; sys.path.insert(0, {folder!r}); import intent, {name}; "
CALL = "print(intent.compile({name}.k).run(numpy.zeros(2, 'f4')).tolist())"


@pytest.fixture(autouse=True)
def disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> DiskCache:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    compilation._memory().clear()
    return user_cache()


def _write(folder: Path, name: str = "cached", value: str = "1.0", imports: str = "") -> None:
    (folder / f"{name}.py").write_text(KERNEL.format(imports=imports, value=value), encoding="utf-8")


def _command(folder: Path, name: str = "cached") -> list[str]:
    return [sys.executable, "-c", (RUN + CALL).format(folder=str(folder), name=name)]


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1", "TRITON_INTERPRET": "1"}


def _run(folder: Path, name: str = "cached") -> str:
    result = subprocess.run(_command(folder, name), capture_output=True, text=True, env=_environment(), check=True)
    return result.stdout.strip()


def _kernel(folder: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> object:
    monkeypatch.syspath_prepend(str(folder))
    return __import__(name).k


# ------------------------------------------------------------------------------------------------------ the cache alone
def test_store_and_load(disk: DiskCache) -> None:
    assert disk.load("a") is None
    disk.store("a", "first\ntext ü")
    disk.store("b", "second")
    assert (disk.load("a"), disk.load("b")) == ("first\ntext ü", "second")
    assert [path.name for path in disk.entries()] == ["a.json", "b.json"]
    disk.clear()
    assert disk.load("a") is None


def test_only_this_user_can_write_or_read_the_key(disk: DiskCache) -> None:
    disk.store("a", "text")
    assert disk.folder.stat().st_mode & 0o077 == 0
    assert (disk.folder / "key").stat().st_mode & 0o077 == 0


def test_what_was_changed_is_not_used(disk: DiskCache) -> None:
    disk.store("a", "text")
    (path,) = disk.entries()
    content = path.read_bytes()
    for changed in (content + b"\n", content[:-1], content[:64] + b"evil", b"", b"0" * 64 + content[64:]):
        path.write_bytes(changed)
        assert disk.load("a") is None
    path.write_bytes(content)
    assert disk.load("a") == "text"
    path.rename(disk.folder / "b.json")
    assert disk.load("b") is None


def test_another_key_makes_everything_foreign(disk: DiskCache) -> None:
    disk.store("a", "text")
    (disk.folder / "key").write_bytes(bytes(32))
    assert disk.load("a") is None


@pytest.mark.parametrize("place", ["folder", "key"])
def test_what_others_can_write_is_not_used(disk: DiskCache, place: str) -> None:
    disk.store("a", "text")
    path = disk.folder if place == "folder" else disk.folder / "key"
    path.chmod(path.stat().st_mode | 0o022)
    assert disk.load("a") is None
    disk.store("c", "text")
    assert not (disk.folder / "c.json").exists()


@pytest.mark.parametrize("place", ["folder", "key", "entry"])
def test_what_belongs_to_another_user_is_not_used(disk: DiskCache, place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    disk.store("a", "text")
    assert disk.load("a") == "text"
    path = {"folder": disk.folder, "key": disk.folder / "key", "entry": disk.folder / "a.json"}[place]
    number, fstat = path.stat().st_ino, os.fstat

    def foreign(file: int) -> os.stat_result:
        status = fstat(file)
        owner = status.st_uid + 1 if status.st_ino == number else status.st_uid
        return os.stat_result((*status[:4], owner, *status[5:10]))

    monkeypatch.setattr(cache_module.os, "fstat", foreign)
    assert disk.load("a") is None
    if place != "entry":
        disk.store("c", "text")
        assert not (disk.folder / "c.json").exists()


@pytest.mark.parametrize("place", ["folder", "key", "entry"])
def test_links_are_not_followed(disk: DiskCache, place: str) -> None:
    disk.store("a", "text")
    path = {"folder": disk.folder, "key": disk.folder / "key", "entry": disk.folder / "a.json"}[place]
    elsewhere = path.rename(path.with_name("elsewhere"))
    path.symlink_to(elsewhere, target_is_directory=elsewhere.is_dir())
    assert disk.load("a") is None
    if place == "folder":
        disk.store("b", "text")
        assert sorted(each.name for each in elsewhere.iterdir()) == ["a.json", "key"]


def test_what_is_no_file_is_not_waited_for(disk: DiskCache) -> None:
    disk.store("a", "text")
    (disk.folder / "a.json").unlink()
    os.mkfifo(disk.folder / "a.json", 0o600)
    assert disk.load("a") is None
    disk.store("a", "text")
    assert disk.load("a") == "text"


@pytest.mark.parametrize("moment", [1, 2])
def test_a_folder_that_is_exchanged_in_use(disk: DiskCache, moment: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody who may write where the folder lies puts one with a key and entries of theirs in its place: after the
    folder was looked at, or after its key was."""
    disk.store("a", "ours")
    theirs = DiskCache(disk.folder.with_name("theirs"))
    theirs.store("a", "theirs")
    checks = 0
    check = cache_module._check_private

    def exchange(file: int, forbidden: int) -> None:
        nonlocal checks
        check(file, forbidden)
        checks += 1
        if checks == moment:
            disk.folder.rename(disk.folder.with_name("ours"))
            theirs.folder.rename(disk.folder)

    monkeypatch.setattr(cache_module, "_check_private", exchange)
    assert disk.load("a") == "ours"


def test_a_key_that_was_not_written_whole_is_replaced(disk: DiskCache) -> None:
    disk.store("a", "text")
    (disk.folder / "key").write_bytes(b"")
    assert disk.load("a") is None
    disk.store("a", "text")
    assert disk.load("a") == "text"


def test_a_full_device_leaves_nothing_behind(disk: DiskCache, monkeypatch: pytest.MonkeyPatch) -> None:
    disk.store("a", "text")

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "no room")

    monkeypatch.setattr(cache_module.os, "replace", full)
    disk.store("b", "text")
    assert sorted(each.name for each in disk.folder.iterdir()) == ["a.json", "key"]


def test_what_an_ended_process_was_writing_is_removed(disk: DiskCache) -> None:
    disk.store("a", "text")
    for name, age in (("old", 7200), ("new", 60)):
        path = disk.folder / f".writing-{name}"
        path.write_bytes(b"half")
        os.utime(path, (time.time() - age,) * 2)
    disk.store("b", "text")
    assert [path.name for path in disk.folder.glob(".writing-*")] == [".writing-new"]


def test_without_a_place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for place in (tmp_path / "file", Path(os.devnull)):
        nowhere = DiskCache(place / "intentc")
        nowhere.store("a", "text")
        assert nowhere.load("a") is None


def test_bounds(disk: DiskCache, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache_module, "MOST_ENTRIES", 8)
    for number in range(8):
        disk.store(f"{number}", "x")
        os.utime(disk.folder / f"{number}.json", (number, number))
    assert disk.load("0") == "x"
    disk.store("8", "x")
    kept = [path.stem for path in disk.entries()]
    assert kept == ["0", "4", "5", "6", "7", "8"], "what was used last stays"
    monkeypatch.setattr(cache_module, "MOST_BYTES", 2000)
    disk.store("large", "x" * 1500)
    assert disk.load("large") is not None
    assert sum(path.stat().st_size for path in disk.entries()) <= 2000


# ------------------------------------------------------------------------------------------------------------ its keys
def test_key_of_everything_that_matters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _write(tmp_path, "keyed")
    kernel = _kernel(tmp_path, monkeypatch, "keyed")
    relaxed = intent.CompileOptions(numerics="relaxed_normalization")
    requests = [
        make_request(kernel, None, None, None),
        make_request(kernel, {"amount": 1}, None, None),
        make_request(kernel, {"amount": 1.0}, None, None),
        make_request(kernel, {"amount": True}, None, None),
        make_request(kernel, None, relaxed, None),
        make_request(kernel, None, None, "cuda:90"),
    ]
    keys = [request.key(None) for request in requests] + [requests[0].key("k")]
    monkeypatch.setattr(compilation, "versions", lambda: "another compiler")
    keys.append(requests[0].key(None))
    _write(tmp_path, "keyed", "2.0")
    keys.append(make_request(kernel, None, None, None).key(None))
    assert len(set(keys)) == len(keys)


def test_a_cached_kernel_runs_without_the_compiler(tmp_path: Path) -> None:
    _write(tmp_path)
    assert _run(tmp_path) == "[1.0, 1.0]"
    loaded = "; print([m for m in sys.modules if m.startswith(('translators.planning', 'translators.intent_source'))])"
    command = [*_command(tmp_path)[:2], _command(tmp_path)[2] + loaded]
    result = subprocess.run(command, capture_output=True, text=True, env=_environment(), check=True)
    assert result.stdout.split("\n")[:2] == ["[1.0, 1.0]", "[]"]


def test_changed_files_are_read_again(tmp_path: Path) -> None:
    _write(tmp_path)
    assert "+ 1.0" in _source(tmp_path)
    _write(tmp_path, value="3.0")
    assert "+ 3.0" in _source(tmp_path)


def test_changed_imports_are_read_again(tmp_path: Path, disk: DiskCache) -> None:
    """Also from memory, and when another file comes to be the one that is imported."""
    _write(tmp_path, value="AMOUNT", imports="from amounts import AMOUNT")
    package = tmp_path / "amounts"
    package.mkdir()
    for number in (2, 2, 4):
        (package / "__init__.py").write_text(f"AMOUNT = {number}.0\n")
        assert f"+ {number}.0" in _source(tmp_path)
        compilation._memory().clear()
        assert f"+ {number}.0" in _source(tmp_path)
    assert len(disk.entries()) == 1
    (package / "__init__.py").unlink()
    (tmp_path / "amounts.py").write_text("AMOUNT = 5.0\n")
    assert "+ 5.0" in _source(tmp_path)
    (package / "__init__.py").write_text("AMOUNT = 6.0\n")
    assert "+ 6.0" in _source(tmp_path), "Python prefers the package"


def test_a_file_that_changes_while_it_is_translated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The translation is kept for the text that it was made of, not for what the file says afterwards."""
    _write(tmp_path, value="AMOUNT", imports="from amounts import AMOUNT")
    amounts = tmp_path / "amounts.py"
    amounts.write_text("AMOUNT = 1.0\n")
    compile_text = pipeline.compile_text

    def changed(*arguments: object) -> pipeline.Compilation:
        compilation = compile_text(*arguments)  # type: ignore[arg-type]
        amounts.write_text("AMOUNT = 2.0\n")
        return compilation

    monkeypatch.setattr(pipeline, "compile_text", changed)
    assert "+ 1.0" in _source(tmp_path)
    assert "+ 2.0" in _source(tmp_path)


def _source(folder: Path) -> str:
    path = folder / "cached.py"
    return translate(compilation.Request(str(path), path.read_text(encoding="utf-8"), "k")).source


# ---------------------------------------------------------------------------------------------------- several processes
def test_processes_at_once(tmp_path: Path, disk: DiskCache) -> None:
    """Several that find an empty cache together, then several that find it full."""
    _write(tmp_path)
    for _ in range(2):
        running = [
            subprocess.Popen(_command(tmp_path), stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=_environment())
            for _ in range(3)
        ]
        outcomes = [process.communicate() for process in running]
        assert [output.strip() for output, _ in outcomes] == [b"[1.0, 1.0]"] * 3, outcomes
    (entry,) = disk.entries()
    assert disk.load(entry.stem) is not None
    assert not list(disk.folder.glob(".writing-*"))


def test_foreign_code_is_never_executed(tmp_path: Path, disk: DiskCache) -> None:
    _write(tmp_path)
    _run(tmp_path)
    (entry,) = disk.entries()
    marker = tmp_path / "executed"
    evil = entry.read_text(encoding="utf-8").replace("import os", f"open({str(marker)!r}, 'w'); import os")
    assert evil != entry.read_text(encoding="utf-8")
    entry.write_text(evil, encoding="utf-8")
    assert _run(tmp_path) == "[1.0, 1.0]"
    assert not marker.exists()
    assert disk.load(entry.stem) is not None, "the entry is written again"


def test_artifacts_of_one_file_share_a_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _write(tmp_path, "shared")
    kernel = _kernel(tmp_path, monkeypatch, "shared")
    first, second = (intent.compile(kernel, TritonTarget()) for _ in range(2))
    assert first._execution._module is second._execution._module  # type: ignore[attr-defined]
