"""The MCP server: look-up and the compiler as tools for models, on program text that is passed in.

Nothing is read from disk or written to it, and no program is executed. Every call is answered by a process of its own
within limits. This is the only module that imports `mcp`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Annotated, Any, Final

from mcp.server.mcpserver import MCPServer
from mcp_types import CallToolResult, TextContent, ToolAnnotations
from pydantic import Field

from intentc import __version__
from intentc.serving.calls import CallFailed, Calls
from translators.options import Arm, Numerics

LONGEST_PROGRAM: Final = 2**18  # characters
INSTRUCTIONS: Final = """\
intentc compiles Intent kernels (tensor algorithms over logical domains) to standalone Triton modules, and lifts Triton
kernels back. Look up before writing: `search` for words, `api` for a name, `read` for a page, starting with
`language/domains`. Then `check` a program, mend what the diagnostics say (many carry the edit itself), `compile` it.
`explain` tells what a diagnostic's code means, or how a program is planned. Programs are passed as text; nothing is
read from disk, written to it, or executed.
"""

Program = Annotated[str, Field(max_length=LONGEST_PROGRAM, description="The text of the file.")]
Kernel = Annotated[str | None, Field(max_length=200, description="This kernel only.")]
Filename = Annotated[str, Field(max_length=200, pattern=r"^[\w.-]+$", description="What messages call the text.")]
Constexpr = Annotated[
    dict[str, bool | int | float | str],
    Field(max_length=100, description="Values of compile-time parameters, by NAME or KERNEL.NAME."),
]
NumericsMode = Annotated[Numerics, Field(description="Permissions beyond the source's own.")]
NOTHING: Final[dict[str, Any]] = {}
_READS_ONLY: Final = ToolAnnotations(
    read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)


def make_server(seconds: float) -> MCPServer[None]:
    """The server, whose calls may take `seconds` each."""
    calls = Calls("intentc.serving.answers", confined=True, seconds=seconds)

    @asynccontextmanager
    async def running(_: MCPServer[None]) -> AsyncIterator[None]:
        starting = asyncio.ensure_future(calls.prepare())
        try:
            yield
        finally:
            starting.cancel()
            await asyncio.wait([starting])
            await calls.close()

    server: MCPServer[None] = MCPServer(
        "intentc", version=__version__, instructions=INSTRUCTIONS, log_level="WARNING", lifespan=running
    )
    tools = Tools(calls)
    for tool in (
        tools.search, tools.api, tools.read, tools.check, tools.compile, tools.lift, tools.compare, tools.explain
    ):  # fmt: skip
        server.add_tool(tool, annotations=_READS_ONLY)
    return server


class Tools:
    """The tools; their docstrings and the descriptions of their parameters are what a model reads."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    async def search(
        self,
        query: Annotated[str, Field(max_length=1000, description="Words; misspelt ones are forgiven.")],
        limit: Annotated[int, Field(ge=1, le=100)] = 10,
    ) -> CallToolResult:
        """Search names of the language and the host interface, diagnostics, and sections of the documentation.

        A hit's id is what `api`, `explain` (as code) or `read` (as page) takes, by its kind.
        """
        return await self._answer("search", query=query, limit=limit)

    async def api(
        self, name: Annotated[str, Field(max_length=200, description="Such as I.reduce.sum or intent.compile.")]
    ) -> CallToolResult:
        """One name: its call, result, dtypes, the codes that refuse other dtypes, and an example that compiles."""
        return await self._answer("api", name=name)

    async def read(
        self,
        page: Annotated[str | None, Field(max_length=200, description="Such as language/memory#gathers.")] = None,
    ) -> CallToolResult:
        """A page of the documentation or a section of one; without an argument, the list of pages."""
        return await self._answer("read", page=page)

    async def check(
        self,
        program: Program,
        constexpr: Constexpr = NOTHING,
        numerics: NumericsMode = "source",
        filename: Filename = "kernel.py",
    ) -> CallToolResult:
        """Every diagnostic of an Intent program: what is wrong, where, and often the edit that mends it (`fix`)."""
        return await self._answer("check", program=program, constexpr=constexpr, numerics=numerics, filename=filename)

    async def compile(
        self,
        program: Program,
        constexpr: Constexpr = NOTHING,
        numerics: NumericsMode = "source",
        arm: Annotated[
            Arm, Field(description="Functions of the module: on NumPy arrays, device arrays, both.")
        ] = "both",
        filename: Filename = "kernel.py",
    ) -> CallToolResult:
        """Compile an Intent program to a Triton module, which needs torch, triton and numpy only.

        The first text is the module, unless `accepted` is false; the diagnostics follow.
        """
        return await self._answer(
            "compile", program=program, constexpr=constexpr, numerics=numerics, arm=arm, filename=filename
        )

    async def lift(
        self,
        program: Program,
        kernel: Kernel = None,
        constexpr: Constexpr = NOTHING,
        dtypes: Annotated[
            dict[str, str], Field(max_length=100, description="Dtypes of parameters, such as {'x_ptr': 'f16'}.")
        ] = NOTHING,
        filename: Filename = "kernel.py",
    ) -> CallToolResult:
        """Lift Triton kernels to Intent source, with a report of what was proven and what was not.

        What cannot be proven is not lifted. The text should hold the host code that launches the kernels too. Name one
        kernel of a file of many, which may take longer than a call can.
        """
        return await self._answer(
            "lift", program=program, kernel=kernel, constexpr=constexpr, dtypes=dtypes, filename=filename
        )

    async def compare(
        self,
        first: Program,
        second: Program,
        first_kernel: Kernel = None,
        second_kernel: Kernel = None,
        constexpr: Constexpr = NOTHING,
    ) -> CallToolResult:
        """Whether two kernels, each in Intent or Triton, are one program, and where they first differ.

        Names, tiles and steps do not count.
        """
        return await self._answer(
            "compare", programs=[first, second], kernels=[first_kernel, second_kernel], constexpr=constexpr,
            filenames=["first.py", "second.py"],
        )  # fmt: skip

    async def explain(
        self,
        code: Annotated[str | None, Field(max_length=20, description="A diagnostic's code, such as INT401.")] = None,
        program: Annotated[str | None, Field(max_length=LONGEST_PROGRAM, description="Or an Intent program.")] = None,
        constexpr: Constexpr = NOTHING,
        filename: Filename = "kernel.py",
    ) -> CallToolResult:
        """What a diagnostic's code means, with a wrong and a right example; or what the compiler makes of a program."""
        return await self._answer("explain", code=code, program=program, constexpr=constexpr, filename=filename)

    async def _answer(self, tool: str, **arguments: object) -> CallToolResult:
        try:
            texts, data = await self._calls.call(tool, arguments)
        except CallFailed as failed:
            return CallToolResult(content=_contents([str(failed)]), is_error=True)
        return CallToolResult(content=_contents(texts), structured_content=data)


def _contents(texts: Iterable[str]) -> list[TextContent]:
    return [TextContent(type="text", text=text) for text in texts]
