"""The command line of the Intent compiler."""

from __future__ import annotations

__version__ = "0.1.0"
