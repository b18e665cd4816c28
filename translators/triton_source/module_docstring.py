"""The generated module's docstring: what was compiled, the logical program, the schedule, the traffic."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath

from translators.logical.program import Program
from translators.logical.types import View
from translators.triton_source.launch import KernelCode
from translators.triton_source.module_composition import Composer
from translators.triton_source.module_kernels import view_text
from translators.triton_source.module_names import KernelNames
from translators.triton_source.module_options import ModuleOptions

# A module of device functions is refused by some callers for these words, even in a comment.
HOST_WORDS = ("asnumpy", ".get(", "np.asarray", ".cpu(", ".numpy(", "from_numpy")


def module_docstring(
    program: Program,
    pairs: Sequence[tuple[KernelCode, KernelNames]],
    options: ModuleOptions,
    composer: Composer | None = None,
) -> str:
    name = PurePosixPath(program.path.replace("\\", "/")).name or "an Intent program"
    lines = [f"Triton module for {name}, written by intentc; change the Intent source, not this file."]
    lines += ["", *_paragraph(program.docstring)] if program.docstring else []
    for line in composer.summary() if composer else ():
        lines += _wrapped(line, "") if line else [""]
    for code, names in pairs:
        lines += ["", *_kernel_lines(code, names)]
    lines += ["", f"Targets {' '.join(options.targets)}"]
    text = _escaped("\n".join(line.rstrip() for line in lines), options)
    return f'"""{text}\n"""\n'


def _kernel_lines(code: KernelCode, names: KernelNames) -> list[str]:
    lines = [_signature(code, names)]
    lines += [line for stage in code.stages for line in _wrapped(stage, "    ")]
    lines += [line for plan in _plans(code) for line in _labelled("Plan", plan)]
    lines += _labelled("Traffic", code.traffic) if code.traffic else []
    lines += [line for promise in code.promises for line in _labelled("Promise", promise)]
    return lines


def _plans(code: KernelCode) -> Iterable[str]:
    """A line for each form; a form that only repeats another's plan is not repeated."""
    return [text for text in dict.fromkeys(variant.plan for variant in code.variants) if text]


def _signature(code: KernelCode, names: KernelNames) -> str:
    inputs = [
        view_text(parameter) if isinstance(parameter, View) else f"{parameter.name} {parameter.dtype.name}"
        for parameter in code.kernel.parameters
        if not (isinstance(parameter, View) and parameter.direction == "Out")
    ]
    outputs = [view_text(view) for view in code.kernel.views if view.direction == "Out"]
    arrow = f" -> {', '.join(outputs)}" if outputs else ""
    return "\n".join(_wrapped(f"{names.public.all[0]}({', '.join(inputs)}){arrow}", ""))


def _labelled(label: str, text: str) -> list[str]:
    return textwrap.wrap(text, 116, initial_indent=f"    {label:<8}", subsequent_indent=" " * 12)


def _wrapped(text: str, indent: str) -> list[str]:
    kept = len(text) - len(text.lstrip())
    indent += " " * kept
    return textwrap.wrap(text.strip(), 118, initial_indent=indent, subsequent_indent=indent + "    ") or [""]


def _paragraph(text: str) -> list[str]:
    return [line for paragraph in text.strip().splitlines() for line in _wrapped(paragraph, "")]


def _escaped(text: str, options: ModuleOptions) -> str:
    text = text.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    if options.arm == "device":
        for word in HOST_WORDS:
            text = text.replace(word, word[:3] + " " + word[3:])
    return "".join(c if c.isprintable() or c == "\n" else c.encode("unicode_escape").decode("ascii") for c in text)
