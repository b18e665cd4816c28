"""The benchmark's harness as far as it works without a device: data, references, checks, reports, failures."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from sample_files import ROOT

from benchmarks import cases, families, first_call, generate, misses, performance_page
from benchmarks.measure import distance, load
from benchmarks.rows import Data

# Layouts of buffers, ways to check, one kernel or two, every kind of implementation.
WITH_HOST_TIMES = ("cumsum", "pointwise_gelu", "add_rms_norm")
FAMILIES = (
    "adamw",
    "rope",
    "grouped_gemm",
    "fp8_gemm",
)  # arrays that are updated, scratch, dtypes of the library's own
ROWS = ("add_rms_norm", "gemm_odd", "column_sum", "argmax", "embedding", "dropout", "full_sum")


@pytest.fixture(scope="module")
def modules(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("modules")
    for path in generate.WORKLOADS.glob("*.py"):
        if path.stem in {row.workload for row in cases.ROWS if row.name in (*ROWS, *WITH_HOST_TIMES)}:
            assert generate.write(path, folder)
    for name in FAMILIES:
        assert generate.write(ROOT / "samples" / f"{name}.py", folder)
    return folder


def _run(modules: Path, output: Path, *options: str) -> tuple[dict, subprocess.CompletedProcess[str]]:
    command = [sys.executable, "-m", "benchmarks.run", "--small", "--modules", str(modules), "--output", str(output)]
    done = subprocess.run([*command, *options], capture_output=True, text=True, cwd=ROOT, check=False)
    return json.loads(output.read_text(encoding="utf-8")), done


def test_every_implementation_is_right(modules: Path, tmp_path: Path) -> None:
    report, done = _run(modules, tmp_path / "bench.json", "--only", ",".join(ROWS))
    assert done.returncode == 0, done.stdout + done.stderr
    assert {row["name"] for row in report["rows"]} == set(ROWS)
    for row in report["rows"]:
        assert row["floor"] > 0 and row["goal"] > 0
        kinds = {peer["peer"].split()[0] for peer in row["peers"]}
        assert {"generated", "expert"} < kinds
        for peer in row["peers"]:
            assert peer["status"] == "right" and peer["graph"] > 0, (row["name"], peer)
        assert f"| {row['name']} |" in done.stdout


def test_every_implementation_of_other_families_is_right(modules: Path, tmp_path: Path) -> None:
    report, done = _run(modules, tmp_path / "bench.json", "--families", "--only", ",".join(FAMILIES))
    assert done.returncode == 0, done.stdout + done.stderr
    found = {(row["name"], peer["peer"].split()[0]): peer["status"] for row in report["rows"] for peer in row["peers"]}
    assert set(found.values()) == {"right"}
    assert {(name, kind) for name in FAMILIES for kind in ("generated", "expert")} <= found.keys()


def test_a_wrong_update_in_place_is_found(modules: Path, tmp_path: Path) -> None:
    broken = tmp_path / "modules"
    broken.mkdir()
    text = (modules / "rope.py").read_text(encoding="utf-8")
    (broken / "rope.py").write_text(text.replace("first * c", "first * s"), encoding="utf-8")
    report, _ = _run(broken, tmp_path / "bench.json", "--families", "--only", "rope")
    assert {peer["peer"]: peer["status"] for peer in report["rows"][0]["peers"]} == {
        "generated": "wrong", "eager": "right", "expert": "right",
    }  # fmt: skip


def test_every_sample_that_is_measured_is_generated() -> None:
    assert {row.workload for row in families.ROWS} == set(generate.MEASURED_SAMPLES)
    assert not {row.workload for row in families.ROWS} & {path.stem for path in generate.WORKLOADS.glob("*.py")}
    assert len({row.name for row in (*cases.ROWS, *families.ROWS)}) == len(cases.ROWS) + len(families.ROWS)


def test_first_calls_are_measured(modules: Path, tmp_path: Path) -> None:
    output = tmp_path / "first.json"
    command = [sys.executable, "-m", "benchmarks.first_call", "--small", "--modules", str(modules)]
    done = subprocess.run(
        [*command, "--only", "rope,cumsum", "--output", str(output)], capture_output=True, text=True, cwd=ROOT,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads(output.read_text(encoding="utf-8"))
    assert [line["row"] for line in report["rows"]] == ["cumsum", "rope"]
    assert all(line["again"] > 0 and line["compiled again"] == 0 for line in report["rows"])
    slow = {**report, "rows": [{"row": "cumsum", "problem": "no | device\n"}]}
    assert first_call.table(slow).splitlines()[-1] == "| cumsum | no   device  |  |  |  |  |"


def test_other_sizes_are_alike() -> None:
    for row in (*cases.ROWS, *families.ROWS):
        other = first_call.other_sizes(row.sizes)
        changed = {name for name in row.sizes if row.sizes[name] != other[name]}
        assert len(changed) == 1
        assert all(other[name] % 16 == row.sizes[name] % 16 and 1 < other[name] < row.sizes[name] for name in changed)


@pytest.mark.parametrize("name", ["gemm_odd", "gemm_4096", "gemm_8192"])
def test_other_sizes_have_the_same_plan(modules: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a GPU whose processors copy tiles, if all rows are aligned."""
    module = load(modules / "gemm.py")
    plans: list[tuple[str, object]] = []
    monkeypatch.setattr(
        module, "_tile_processors", lambda index, *views: 132 * all(module._aligned(view) for view in views)
    )
    monkeypatch.setattr(
        module, "_launch", lambda plan, *rest, **more: plans.append((plan.kernel.__name__, plan.blocks))
    )
    sizes = next(row for row in cases.ROWS if row.name == name).sizes
    for each in (sizes, first_call.other_sizes(sizes)):
        M, N, K = each["M"], each["N"], each["K"]
        views = [torch.empty(shape, dtype=torch.float16) for shape in ((M, K), (K, N), (M, N))]
        module._launch_gemm(*views, M=M, K=K, N=N)
    assert plans[0] == plans[1] and plans[0][0] == "gemm_described"


def test_rows_are_slower_for_a_reason() -> None:
    """The page names every row that another implementation is faster in, and no row that is not there."""
    assert set(misses.REASONS) <= {row.name for row in (*cases.ROWS, *families.ROWS)}
    peers = [{"peer": kind, "graph": time, "status": "right"} for kind, time in (("expert", 0.9), ("generated", 1.0))]
    near = [{"peer": kind, "graph": time, "status": "right"} for kind, time in (("expert", 0.96), ("generated", 1.0))]
    rows = [{"name": "top_k", "method": "graph", "peers": peers}, {"name": "rope", "method": "graph", "peers": near}]
    assert "`top_k`, 90% of" in performance_page._misses({"rows": rows})
    assert "rope" not in performance_page._misses({"rows": rows})


def test_the_page_has_the_figures_that_are_kept() -> None:
    text = performance_page.PAGE.read_text(encoding="utf-8")
    assert text == performance_page.page(), "run `python -m benchmarks.performance_page`"
    assert all(f"| {row.name} |" in text for row in cases.ROWS)


def test_host_times_of_calls(modules: Path, tmp_path: Path) -> None:
    output = tmp_path / "overhead.json"
    command = [sys.executable, "-m", "benchmarks.call_overhead", "--modules", str(modules), "--output", str(output)]
    environment = os.environ | {"TRITON_INTERPRET": "1"}
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(output.read_text(encoding="utf-8"))
    for title in ("cumsum: two arrays", "pointwise_gelu: three arrays, two scalars"):
        assert found[title]["the device function"] > found[title]["part: the form"] > 0


def test_whole_calls(modules: Path, tmp_path: Path) -> None:
    output = tmp_path / "host.json"
    command = [sys.executable, "-m", "benchmarks.host_calls", "--modules", str(modules), "--output", str(output)]
    environment = os.environ | {"TRITON_INTERPRET": "1"}
    done = subprocess.run(
        [*command, "--only", "4096"], capture_output=True, text=True, cwd=ROOT, env=environment, check=False
    )
    assert done.returncode == 0, done.stderr
    (row,) = json.loads(output.read_text(encoding="utf-8"))["rows"]
    assert row["ways"]["the module"]["median"] > row["parts"]["one array up"]["median"] > 0


def test_what_goes_wrong_does_not_stop_the_rest(modules: Path, tmp_path: Path) -> None:
    broken = tmp_path / "modules"
    broken.mkdir()
    texts = {path.stem: path.read_text(encoding="utf-8") for path in modules.glob("*.py")}
    (broken / "column_sum.py").write_text("import os\nos._exit(7)\n", encoding="utf-8")
    (broken / "embedding.py").write_text(texts["embedding"].replace("tl.store(", "tl.load(", 1), encoding="utf-8")
    (broken / "full_sum.py").write_text("this is no module\n", encoding="utf-8")
    only = "column_sum,embedding,full_sum"
    report, done = _run(broken, tmp_path / "bench.json", "--only", only)
    assert done.returncode == 1
    found = {(row["name"], peer["peer"]): peer["status"] for row in report["rows"] for peer in row["peers"]}
    assert found["column_sum", "generated"] == found["column_sum", "generated in two kernels"] == "ended or hung"
    assert found["embedding", "generated"] not in ("right", "ended or hung")
    assert found["full_sum", "generated in two kernels"].startswith("SyntaxError")
    assert {status for (_, peer), status in found.items() if not peer.startswith("generated")} == {"right"}


def test_nothing_is_begun_when_time_is_up(modules: Path, tmp_path: Path) -> None:
    report, done = _run(modules, tmp_path / "bench.json", "--only", "column_sum", "--seconds", "0")
    assert done.returncode == 1
    assert {peer["status"] for row in report["rows"] for peer in row["peers"]} == {"not run"}


def test_poison_and_wrong_values_are_found() -> None:
    argmax = next(row for row in cases.ROWS if row.name == "argmax")
    assert argmax.check is not None
    x = torch.tensor([[1.0, 3.0, 3.0], [2.0, 0.0, 1.0]])
    data = Data((x,), (torch.zeros(2, dtype=torch.int64),))
    workload = sys.modules[__name__]
    for places, strict, lenient in (([1, 0], 0, 0), ([2, 0], 1, 0), ([0, 0], 1, 1)):
        found = [torch.tensor(places)]
        assert argmax.check(workload, data, found, True) == strict
        assert argmax.check(workload, data, found, False) == lenient
    assert argmax.check(workload, data, [torch.tensor([-1, 0])], True) == float("inf")
    wanted = torch.ones(4, dtype=torch.float64)
    assert distance(torch.tensor([1, 1, 1, float("nan")]), wanted) == float("inf")
    assert distance(torch.ones(2, 2), wanted) == float("inf")
    assert distance(torch.tensor([1, 1, 1, 2.0]), wanted) == 0.5
