"""How much has been tried: counted, not timed, so that it is the same on every machine.

The weights make the count proportional to time: one is about ten microseconds.
"""

from __future__ import annotations

import sys
from typing import Final

from intent.records import dataclass

OF_A_QUESTION: Final = 10  # whether a polynomial is not negative
OF_A_VISIT: Final = 8  # of a polynomial in the search for a proof
OF_SAMPLES: Final = 100  # points that are looked for
OF_AN_EXPRESSION: Final = 1  # that is asked for, whether or not it is new


class Exhausted(Exception):
    """More was tried than is allowed."""


@dataclass(slots=True)
class Effort:
    """What was spent, by all that share this."""

    most: int = sys.maxsize
    spent: int = 0

    def spend(self, effort: int) -> None:
        """Raises Exhausted if that is too much."""
        self.spent += effort
        if self.spent > self.most:
            raise Exhausted

    @property
    def exhausted(self) -> bool:
        return self.spent > self.most

    @property
    def scarce(self) -> bool:
        """Whether what was tried took so much that it cannot be tried again."""
        return self.spent > self.most // 2
