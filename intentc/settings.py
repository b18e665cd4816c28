"""Options that several commands share, and `[tool.intentc]` in pyproject.toml, which gives their defaults."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Final, Literal, cast

import typer

from intentc.failure import UsageError
from translators.options import ARMS, NUMERICS, TARGETS, Arm, Numerics, Options

OutputFormat = Literal["full", "concise", "json", "github", "sarif"]

Files = Annotated[list[str], typer.Argument(metavar="FILE...", help="Kernel files; - reads standard input.")]
Constexprs = Annotated[
    list[str] | None,
    typer.Option("--constexpr", metavar="[KERNEL.]NAME=VALUE", help="Bind a compile-time parameter (repeatable)."),
]
Targets = Annotated[
    str | None, typer.Option("--target", metavar="TARGET,...", help=f"Targets to serve: {', '.join(TARGETS)}.")
]
NumericsMode = Annotated[Numerics | None, typer.Option("--numerics", help="Permissions beyond the source's own.")]
Format = Annotated[OutputFormat, typer.Option("--output-format", help="How diagnostics are reported.")]
DataFormat = Annotated[Literal["text", "json"], typer.Option("--output-format", help="How it is printed.")]
StdinFilename = Annotated[str, typer.Option("--stdin-filename", help="The name of standard input in messages.")]

_KEYS: Final = ("target", "numerics", "arm")


def make_options(
    constexprs: Sequence[str] | None, targets: str | None, numerics: Numerics | None, arm: Arm | None = None
) -> Options:
    """The options of a compilation: from the command line, else the configuration, else the defaults."""
    configured = read_configuration(Path.cwd())
    return Options(
        constexprs=parse_constexprs(constexprs or ()),
        numerics=numerics or cast(Numerics, _choice(configured, "numerics", NUMERICS)) or "source",
        targets=parse_targets(targets) if targets is not None else _configured_targets(configured),
        arm=arm or cast(Arm, _choice(configured, "arm", ARMS)) or "both",
    )


# ------------------------------------------------------------------------------------------------ constexprs
def parse_constexprs(arguments: Sequence[str]) -> dict[str, object]:
    """`["WIDTH=64", "softmax.CAUSAL=true"]` as a mapping. What is neither number nor truth value stays text."""
    bound: dict[str, object] = {}
    for argument in arguments:
        name, equals, value = argument.partition("=")
        parts = name.strip().split(".")
        if not equals or len(parts) > 2 or not all(part.isidentifier() for part in parts):
            raise UsageError(f"--constexpr takes NAME=VALUE or KERNEL.NAME=VALUE, not {argument!r}")
        name = ".".join(parts)
        if name in bound:
            raise UsageError(f"--constexpr gives {name} twice")
        bound[name] = parse_value(value.strip())
    return bound


def parse_value(text: str) -> bool | int | float | str:
    """A truth value, an integer (any base Python writes), a float, or else text."""
    truths = {"true": True, "false": False}
    if text.lower() in truths:
        return truths[text.lower()]
    try:
        return int(text, 0)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        return text


# --------------------------------------------------------------------------------------------------- targets
def parse_targets(text: str) -> tuple[str, ...]:
    """`cuda:90,hip:gfx942` as a tuple; UsageError for a target that is not known."""
    targets = tuple(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))
    unknown = [target for target in targets if target not in TARGETS]
    if unknown or not targets:
        said = f"unknown target {unknown[0]!r}" if unknown else "no target is given"
        raise UsageError(f"{said}; the targets are {', '.join(TARGETS)}")
    return targets


# --------------------------------------------------------------------------------------------- configuration
def read_configuration(directory: Path) -> Mapping[str, object]:
    """The table `[tool.intentc]` of the nearest pyproject.toml at or above `directory`; empty if there is none."""
    for parent in (directory, *directory.parents):
        path = parent / "pyproject.toml"
        if path.is_file():
            return _read_table(path)
    return {}


def _read_table(path: Path) -> Mapping[str, object]:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read {path}: {error}") from None
    if "tool.intentc" not in text:  # most projects: no need to load a parser
        return {}
    table = _parse(text, path).get("tool", {}).get("intentc", {})
    unknown = [key for key in table if key not in _KEYS]
    if unknown:
        raise UsageError(f"{path}: [tool.intentc] has no key {unknown[0]!r}; its keys are {', '.join(_KEYS)}")
    return cast("Mapping[str, object]", table)


def _parse(text: str, path: Path) -> dict[str, dict[str, dict[str, object]]]:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        return cast("dict[str, dict[str, dict[str, object]]]", tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{path}: {error}") from None


def _choice(configured: Mapping[str, object], key: str, choices: Sequence[str]) -> str | None:
    value = configured.get(key)
    if value is not None and value not in choices:
        raise UsageError(f"[tool.intentc] {key} is one of {', '.join(choices)}, not {value!r}")
    return cast("str | None", value)


def _configured_targets(configured: Mapping[str, object]) -> tuple[str, ...]:
    value = configured.get("target")
    if value is None:
        return TARGETS
    return parse_targets(",".join(map(str, value)) if isinstance(value, list) else str(value))
