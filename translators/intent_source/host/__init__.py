"""Host functions of a kernel file that call its kernels, carried over into the generated module."""

from __future__ import annotations

from translators.intent_source.host.compositions import HostReading, read_host
from translators.intent_source.host.specialisation import Specialisations

__all__ = ["HostReading", "Specialisations", "read_host"]
