"""Names for what a lifted kernel talks about: those of the Triton code, without what marks them as pointers or
counts.
"""

from __future__ import annotations

import builtins
import keyword
import re
from collections.abc import Iterable

from intent.records import dataclass, field

_RESERVED = frozenset((*keyword.kwlist, *dir(builtins), "I", "intent"))
_MODULES = frozenset(("math", "numpy", "np", "tl", "torch", "triton"))


@dataclass(slots=True)
class Names:
    """Hands out names, each once."""

    taken: set[str] = field(default_factory=lambda: set(_RESERVED))

    def fresh(self, wanted: str) -> str:
        name = re.sub(r"\W", "_", wanted) or "value"
        if name[0].isdigit():
            name = f"v{name}"
        made, count = f"{name}_value" if name in _RESERVED else name, 1
        while made in self.taken:
            count += 1
            made = f"{name}_{count}"
        self.taken.add(made)
        return made

    def reserve(self, names: Iterable[str]) -> None:
        self.taken.update(names)


def view_name(parameter: str) -> str:
    """`x_ptr`, `X`, `x_pointer` and `ptr_x` are x."""
    lowered = parameter.lower() if parameter.isupper() or len(parameter) == 1 else parameter
    stripped = re.sub(r"(_ptrs?|_pointer|_PTR|Ptr|_ptr_|ptr)$", "", lowered)
    stripped = re.sub(r"^(ptr_|p_)", "", stripped)
    made = stripped.strip("_") or lowered
    made = made.lower() if made[0].isupper() else made
    return {"in": "source", "input": "source", "output": "output"}.get(made, made)


def domain_name(size: str) -> str:
    """The coordinates of a size: N has n, n_cols has cols."""
    stripped = re.sub(r"^(n_|N_|num_|NUM_)", "", size)
    made = (stripped or size).lower()
    return made if made != size else f"{made}_domain"


def kernel_name(name: str) -> str:
    """Without underscores around it; what Python or a module of its own uses has a longer name."""
    made = name.strip("_") or "kernel"
    return f"{made}_kernel" if made in _RESERVED or made in _MODULES else made
