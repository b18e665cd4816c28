"""What is lifted must compile: a legal program, whatever else is said of it."""

from __future__ import annotations

from translators.lifting.files import LiftedFile, Wanted, source_of, without
from translators.options import Options
from translators.pipeline import compile_text


def checked(lifted: LiftedFile, wanted: Wanted) -> LiftedFile:
    """Every lifted kernel must be a legal program that compiles; one that is not is not lifted."""
    for kernel in lifted.kernels:
        text = source_of((kernel,), lifted.path)
        if text is None:
            continue
        rejected = _rejection(text, lifted.path, {name: wanted.constants.get(name, 64) for name in kernel.groups})
        if rejected is not None:
            lifted = without(lifted, kernel.name, f"what was lifted does not compile: {rejected}")
    return lifted


def _rejection(text: str, path: str, constants: dict[str, object]) -> str | None:
    """Why the program does not compile, with some value for the size of each group that is kept."""
    given = {name: value for name, value in constants.items() if f"{name}: I.Constexpr[int] =" not in text}
    try:
        diagnostics = compile_text(text, path, Options(constexprs=given)).diagnostics
    except Exception as error:  # a bug of the compiler must not hide what else the file holds
        return f"{type(error).__name__}: {error}"
    return next((each.message for each in diagnostics if each.severity != "note"), None)
