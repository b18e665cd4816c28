"""Writes docs/commands.md from the commands themselves: `python -m tests.commands_page`."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from typer.models import ArgumentInfo, OptionInfo

from intentc.__main__ import COMMANDS

PAGE = Path(__file__).resolve().parent.parent / "docs" / "commands.md"
SERVERS = frozenset({"mcp", "lsp"})  # they have pages of their own

INTRODUCTION = """# Commands

What each command does, and its options, from the commands themselves. `intentc COMMAND --help` prints the same.
`-` is standard input. Program text and data go to standard output, everything else to standard error.

| exit status | meaning |
|---|---|
| 0 | done |
| 1 | an input was rejected, an output drifted under `--check`, or two programs differ |
| 2 | usage, configuration, input or output |
| 3 | a bug of the compiler |
| 4 | a comparison could not tell |

Defaults of `--target`, `--numerics` and `--arm` can be set for a project, in the table `[tool.intentc]` of its
`pyproject.toml`.
"""


def page() -> str:
    """The whole page."""
    return "\n".join([INTRODUCTION, *_sections()])


def _sections() -> Iterator[str]:
    for name, entry in COMMANDS.items():
        if name in SERVERS:
            continue
        function = getattr(import_module(entry.module), entry.function)
        parameters = list(inspect.signature(function, eval_str=True).parameters.values())
        arguments = [_argument(each) for each in parameters if isinstance(_described(each), ArgumentInfo)]
        text = inspect.cleandoc(function.__doc__ or entry.summary)
        paragraphs = "\n\n".join(" ".join(each.split()) for each in text.split("\n\n"))
        yield f"## intentc {name}\n\n`{' '.join(['intentc', name, *arguments])}`\n\n{paragraphs}\n"
        rows = [_row(each) for each in parameters if isinstance(_described(each), OptionInfo)]
        if rows:
            yield "| option | |\n|---|---|\n" + "\n".join(rows) + "\n"


def _described(parameter: inspect.Parameter) -> ArgumentInfo | OptionInfo:
    """What typer is told of a parameter."""
    (found,) = (each for each in get_args(parameter.annotation) if isinstance(each, ArgumentInfo | OptionInfo))
    return found


def _argument(parameter: inspect.Parameter) -> str:
    return _described(parameter).metavar or parameter.name.upper()


def _row(parameter: inspect.Parameter) -> str:
    option = _described(parameter)
    kind = get_args(parameter.annotation)[0]
    names = ", ".join(f"`{each}`" for each in names_of(parameter))
    value = "" if kind is bool else f" `{option.metavar or _values(kind)}`"
    default = f" Default: `{parameter.default}`." if _worth_saying(parameter.default) else ""
    return f"| {names}{value} | {option.help}{default} |".replace("`|`", "`\\|`")


def names_of(parameter: inspect.Parameter) -> list[str]:
    """`-o` and `--output`; inside `Annotated`, typer keeps the first one as a default."""
    option = _described(parameter)
    first = [option.default] if isinstance(option.default, str) else []
    return [*first, *(option.param_decls or ())] or [f"--{parameter.name.replace('_', '-')}"]


def _values(kind: Any) -> str:  # noqa: ANN401 - any form of a type
    """The choices of a Literal, or the type's name."""
    inner = [each for each in get_args(kind) if each is not type(None)]
    if get_origin(kind) is Literal:
        return ", ".join(map(str, inner))
    return _values(inner[0]) if inner else str(kind.__name__).upper().replace("STR", "TEXT").replace("INT", "NUMBER")


def _worth_saying(default: object) -> bool:
    return isinstance(default, str | int) and not isinstance(default, bool)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
