"""The MCP server, as a client of the SDK meets it: the real process, over its standard input and output."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from command_line import ROOT, intentc
from edits import applied
from mcp import Client, StdioServerParameters, stdio_client
from mcp_types import CallToolResult, ListToolsResult

from intentc.lookup.entries import entries
from intentc.lookup.pages import pages
from intentc.serving.calls import SECONDS
from intentc.serving.confinement import MEMORY
from intentc.serving.mcp_server import LONGEST_PROGRAM
from intentc.serving.worker import LONGEST_ANSWER
from translators.diagnostics import Fix, Span
from translators.options import Options
from translators.pipeline import compile_text

SOFTMAX = (ROOT / "samples" / "softmax.py").read_text(encoding="utf-8")
NAMES = ["search", "api", "read", "check", "compile", "lift", "compare", "explain"]

# The sum of each row, as a first attempt: an output that is summed into, and a name of the language misspelt.
ATTEMPT = """\
import intent
import intent.language as I


@intent.kernel
def row_sums(x: I.In[I.f32, ("M", "N")], sums: I.Out[I.f32, ("M",)]):
    M, N = x.shape
    for row in I.parallel(I.domain(0, M)):
        sums[row] = I.reduce.sum(x[row, I.domain(0, N)], axis=0) + I.cast(0, I.f23)
"""

INTENT_IMPORT = SOFTMAX.replace("import intent\n", "import intent\nfrom .secret import WIDTH\n", 1).replace(
    "* scale", "* scale * WIDTH"
)
TRITON_IMPORT = """\
import triton
import triton.language as tl
from secret import WIDTH


@triton.jit
def copy_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + offsets, tl.load(x_ptr + offsets, mask=offsets < n) * WIDTH, mask=offsets < n)
"""


class Server:
    """A client's session with the server."""

    def __init__(self, portal: BlockingPortal, client: Client) -> None:
        self._portal, self._client = portal, client

    def tools(self) -> ListToolsResult:
        return self._portal.call(self._client.list_tools)

    def ask(self, tool: str, **arguments: object) -> CallToolResult:
        return self._portal.call(lambda: self._client.call_tool(tool, arguments))

    def data(self, tool: str, **arguments: object) -> dict[str, Any]:
        result = self.ask(tool, **arguments)
        assert not result.is_error, result.content
        assert result.structured_content is not None
        return result.structured_content

    def texts(self, tool: str, **arguments: object) -> list[str]:
        result = self.ask(tool, **arguments)
        assert not result.is_error, result.content
        return [content.text for content in result.content]

    def error(self, tool: str, **arguments: object) -> str:
        result = self.ask(tool, **arguments)
        assert result.is_error and result.structured_content is None
        (content,) = result.content
        return str(content.text)


@contextmanager
def running(*options: str, directory: Path | None = None) -> Iterator[Server]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    arguments = ["-m", "intentc", "mcp", *options]
    process = StdioServerParameters(command=sys.executable, args=arguments, env=environment, cwd=directory)
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(Client(stdio_client(process))) as client:
        yield Server(portal, client)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the server runs: a folder with files that programs could import if they were files."""
    folder = tmp_path_factory.mktemp("beside")
    (folder / "secret.py").write_text("WIDTH = 4242\n", encoding="utf-8")
    (folder / "kernel.py").write_text("from secret import WIDTH\n", encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[Server]:
    with running(directory=folder) as found:
        yield found
    assert sorted(path.name for path in folder.iterdir()) == ["kernel.py", "secret.py"]


def test_tools_only_read_and_say_what_they_take(server: Server) -> None:
    tools = server.tools().tools
    assert [tool.name for tool in tools] == NAMES
    for tool in tools:
        assert tool.annotations is not None and tool.annotations.read_only_hint and tool.description
        assert tool.input_schema["type"] == "object"
    program = next(tool for tool in tools if tool.name == "compile").input_schema["properties"]["program"]
    assert program["maxLength"] == 2**18


def test_a_whole_dialogue(server: Server) -> None:
    hits = server.data("search", query="sum reduction")["hits"]
    assert "I.reduce.sum" in [hit["id"] for hit in hits if hit["kind"] == "api"]
    entry = server.data("api", name="I.reduce.sum")
    assert entry["declaration"].startswith("I.reduce.sum(") and "f32" in entry["dtypes"]
    assert "I.reduce.sum" in server.data("read", page=entry["page"])["text"]

    checked = server.data("check", program=ATTEMPT)
    assert not checked["accepted"]
    (diagnostic,) = [each for each in checked["diagnostics"] if each["severity"] == "error"]
    assert diagnostic["span"]["line"] == 9
    assert server.data("explain", code=diagnostic["code"])["title"]
    assert server.data("compile", program=ATTEMPT)["module"] is None

    assert diagnostic["help"] == "did you mean 'I.f32'?"
    span, replacement = diagnostic["fix"]["span"], diagnostic["fix"]["replacement"]
    mended = applied(ATTEMPT, Fix(Span(**span), replacement))
    assert mended == ATTEMPT.replace("I.f23", "I.f32")
    assert server.data("check", program=mended)["accepted"]
    compiled = server.data("compile", program=mended, filename="row_sums.py")
    assert compiled["accepted"] and compiled["module"] == compile_text(mended, "row_sums.py").source
    compile(compiled["module"], "row_sums", "exec")
    assert "row_sums" in server.data("explain", program=mended)["kernels"][0]["name"]

    lifted = server.data("lift", program=compiled["module"])
    assert {kernel["status"] for kernel in lifted["kernels"]} == {"lifted"}
    (result,) = server.data("compare", first=mended, second=lifted["source"])["results"]
    assert result["answer"] == "same"


def test_answers_are_those_of_the_command_line(server: Server, tmp_path: Path) -> None:
    as_json = ("--output-format", "json")
    assert server.data("api", name="exp") == json.loads(intentc("api", "exp", *as_json).output)
    assert server.data("search", query="gather")["hits"] == json.loads(intentc("search", "gather", *as_json).output)
    page = "language/memory#gathers"
    assert server.data("read", page=page) == json.loads(intentc("read", page, *as_json).output)
    assert server.texts("explain", code="int401") == [intentc("explain", "INT401").output.rstrip("\n")]
    assert list(server.data("read")["pages"]) == list(pages())
    wrong = tmp_path / "wrong.py"
    wrong.write_text(ATTEMPT, encoding="utf-8")
    printed = intentc("check", wrong).errors.replace(str(wrong), "wrong.py")
    assert server.texts("check", program=ATTEMPT, filename="wrong.py") == [printed.rstrip("\n")]
    assert server.texts("compile", program=SOFTMAX, filename="softmax.py")[0] == intentc(
        "compile", ROOT / "samples" / "softmax.py"
    ).output.replace(str(ROOT / "samples" / "softmax.py"), "softmax.py")


def test_options_reach_the_compiler(server: Server) -> None:
    program = SOFTMAX.replace("out: I.Out", "WIDTH: I.Constexpr[int], out: I.Out")
    (found,) = server.data("check", program=program)["diagnostics"]
    assert "WIDTH" in found["message"]
    assert server.data("check", program=program, constexpr={"WIDTH": 64})["accepted"]
    assert server.data("check", program=program, constexpr={"softmax.WIDTH": 64})["accepted"]
    device = server.data("compile", program=SOFTMAX, arm="device")["module"]
    assert device == compile_text(SOFTMAX, "kernel.py", Options(arm="device")).source


@pytest.mark.parametrize(
    ("tool", "arguments", "message"),
    [
        ("api", {"name": "redcue.sum"}, "did you mean reduce.sum"),
        ("read", {"page": "language/memroy"}, "did you mean language/memory"),
        ("explain", {"code": "INT999"}, "there is no code INT999"),
        ("explain", {}, "a code or a program"),
        ("lift", {"program": "x = 1"}, "kernel.py has no kernel"),
        ("lift", {"program": "x = 1", "dtypes": {"x": "f17"}}, "there is no dtype 'f17'"),
        (
            "compare",
            {"first": TRITON_IMPORT, "second": SOFTMAX, "first_kernel": "soft"},
            "first.py has no kernel 'soft'",
        ),
        ("check", {"program": "x" * (2**18 + 1)}, "at most 262144 characters"),
        ("check", {"program": SOFTMAX, "numerics": "fast"}, "relaxed_normalization"),
        ("check", {"program": SOFTMAX, "filename": "../secret.py"}, "filename"),
        ("search", {"query": "x" * 1001}, "at most 1000 characters"),
        ("search", {"query": "x", "limit": 0}, "greater than or equal to 1"),
        ("run", {"program": SOFTMAX}, "run"),
    ],
)
def test_what_cannot_be_answered_is_said(server: Server, tool: str, arguments: dict[str, object], message: str) -> None:
    assert message in server.error(tool, **arguments)


@pytest.mark.parametrize("text", ["", "(", "\0", "import intent\n" * 5, "é" * 1000, "(" * 5000 + ")" * 5000])
def test_no_text_disturbs_the_server(server: Server, text: str) -> None:
    for tool in ("check", "compile", "explain"):
        assert not server.data(tool, program=text)["accepted"]
    assert server.ask("lift", program=text).content
    assert server.ask("compare", first=text, second=SOFTMAX).content


def test_files_beside_the_server_do_not_exist(server: Server, folder: Path) -> None:
    checked = server.data("check", program=INTENT_IMPORT)
    assert "text without files beside it" in checked["diagnostics"][0]["message"]
    beside = compile_text(INTENT_IMPORT, str(folder / "kernel.py"))
    assert beside.source is not None and "4242" in beside.source  # that it would be found on disk
    for program in (TRITON_IMPORT, TRITON_IMPORT.replace("from secret", "from .secret")):
        lifted = server.ask("lift", program=program)
        assert lifted.structured_content is not None and lifted.structured_content["source"] is None
        assert "4242" not in str(lifted)
        compared = server.ask("compare", first=program, second=INTENT_IMPORT)
        assert "could not tell" in str(compared) and "4242" not in str(compared)


def test_a_call_that_takes_too_long_is_given_up_and_the_next_is_answered() -> None:
    statements = "\n".join(f"    v{i + 1} = v{i} * x[rows] + v{i}" for i in range(3000))
    program = f"""import intent
import intent.language as I


@intent.kernel
def long(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    rows = I.domain(0, x.shape[0])
    v0 = x[rows]
{statements}
    y[rows] = v3000
"""
    with running("--timeout", "0.2") as server:
        assert server.error("compile", program=program) == "this takes longer than the 0.2 s that a call may take"
        assert server.data("api", name="I.exp")["name"] == "I.exp"


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    outcome = intentc("mcp", directory=tmp_path, path=_without("mcp", tmp_path))
    outcome.assert_clean()
    assert outcome.status == 2
    assert outcome.errors == "intentc: this command needs mcp, which is not installed: pip install 'intentc[mcp]'\n"


def _without(package: str, folder: Path) -> list[Path]:
    """A path where a package is not found, wherever it is installed."""
    text = f"raise ModuleNotFoundError(\"No module named '{package}'\", name='{package}')"
    (folder / f"{package}.py").write_text(text, encoding="utf-8")
    return [folder, ROOT]


def test_every_name_can_be_asked_for(server: Server) -> None:
    for name in entries():
        assert server.data("api", name=name)["name"] == name


def test_the_page_tells_the_tools_and_the_limits(server: Server) -> None:
    text = (ROOT / "docs" / "mcp.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `(\w+)` \| (.*?) \|", text, re.MULTILINE))
    assert list(rows) == NAMES
    for tool in server.tools().tools:
        named = set(re.findall(r"`(\w+)`", rows[tool.name])) & set(tool.input_schema["properties"])
        assert set(tool.input_schema.get("required", ())) <= named, tool.name
    assert f"{LONGEST_PROGRAM:,} characters" in text and f"{LONGEST_ANSWER:,}" in text
    assert f"{SECONDS:g} seconds" in text and MEMORY == 2**30
