"""A diagnostic code's rule, as `intentc explain CODE` prints it."""

from __future__ import annotations

from intentc.failure import UsageError
from translators.diagnostic_codes import CODES, Rule


def named(code: str) -> Rule:
    """The rule of a code in capitals or not; UsageError if there is none."""
    rule = CODES.get(code.upper())
    if rule is None:
        raise UsageError(f"there is no code {code.upper()}; `intentc explain` lists them")
    return rule


def text_of(rule: Rule) -> str:
    """The entry as `intentc explain CODE` prints it."""
    wrong, right = (text.replace("\n", "\n    ") for text in (rule.wrong, rule.right))
    return f"{rule.code}: {rule.title}\n\n{rule.rule}\n\nWrong:\n    {wrong}\n\nRight:\n    {right}"
