"""From the text of a kernel file to its logical program."""

from __future__ import annotations

from translators.intent_source.read.module import ReadResult, read_program

__all__ = ["ReadResult", "read_program"]
