"""The links of the documentation that lead out of it: `python -m tests.links` follows them, which needs the network.

Without it, tests see that they are well formed and lead to none but the places named here.
"""

from __future__ import annotations

import re
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

from tests.shown_commands import PAGES, ROOT

# Where pages may lead. A place for examples leads nowhere, and is not followed.
ALLOWED = {"pre-commit.com"}
EXAMPLES = {"example.com"}
_LINK = re.compile(r"\b[a-z][a-z0-9+.-]*://[^\s<>()\[\]`\"']+[^\s<>()\[\]`\"'.,;:]")


def links(path: Path) -> Iterator[str]:
    """Every address in a page, in its text as in its blocks."""
    yield from dict.fromkeys(_LINK.findall(path.read_text(encoding="utf-8")))


def complaint(link: str) -> str:
    """What is wrong with an address as it is written; nothing if all is well."""
    parts = urlsplit(link)
    if parts.scheme != "https":
        return "only https"
    if parts.hostname not in ALLOWED | EXAMPLES:
        return f"{parts.hostname} is not a place that pages lead to"
    if parts.username or parts.port or parts.query:
        return "a name, a port or a query"
    return ""


def answer(link: str) -> str:
    """What is wrong with what an address leads to; nothing if it answers."""
    request = urllib.request.Request(link, headers={"User-Agent": "intentc-links"})
    try:
        with urllib.request.urlopen(request, timeout=30) as reply:
            return "" if reply.status == 200 else str(reply.status)
    except (urllib.error.URLError, TimeoutError) as problem:
        return str(problem)


def main() -> int:
    failed = 0
    for path in PAGES:
        for link in links(path):
            said = complaint(link) or (answer(link) if urlsplit(link).hostname not in EXAMPLES else "")
            failed += bool(said)
            print(f"{path.relative_to(ROOT)}: {link}: {said or 'well'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
