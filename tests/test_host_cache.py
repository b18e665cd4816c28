"""The disk cache: what it is keyed by, what it refuses to use, its bounds, and several processes at once."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import ROOT

import intent
from intent.host import cache as cache_module
from intent.host import compilation
from intent.host.cache import DiskCache, user_cache
from intent.host.compilation import make_request, translate
from intent.targets import TritonTarget

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
    (tmp_path / "amounts.py").write_text("AMOUNT = 5.0\n")
    assert "+ 5.0" in _source(tmp_path)


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
