"""Ranked search over intrinsics, host interface, diagnostics and sections of pages, which forgives misspelt words.

A document's score is the sum over the query's words of how rare the word is and how often the document has it, as in
Robertson's BM25; words of names and titles count more. A word that no document has stands for the words like it:
those that it begins, or that are a letter or two away.
"""

from __future__ import annotations

import functools
import math
import operator
import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, Literal

from intent.records import dataclass
from intentc.lookup.entries import entries
from intentc.lookup.pages import pages
from translators.diagnostic_codes import CODES

Kind = Literal["api", "diagnostic", "page"]
NAME_WEIGHT: Final = 8.0  # of a word in a name or title against one in the text
SATURATION: Final = 1.5  # how soon more of a word adds little: BM25's k1
NAMED: Final = 2.0  # for a document that the query names
LENGTH: Final = 0.5  # how much longer documents need more of a word: BM25's b
LIKENESS: Final = {0: 1.0, 1: 0.6, 2: 0.35}  # by how many letters a word is away
BEGINNING: Final = 0.7  # of a word that the query's word begins
_WORD: Final = re.compile(r"[a-z]+[0-9]*|[0-9]+")
_COMMON: Final = frozenset(
    {
        "an",
        "and",
        "as",
        "at",
        "be",
        "by",
        "each",
        "every",
        "for",
        "how",
        "in",
        "is",
        "it",
        "of",
        "on",
        "or",
        "the",
        "to",
    }
)


@dataclass(frozen=True, slots=True)
class Document:
    """`identity` is what `intentc api`, `explain` or `read` take."""

    kind: Kind
    identity: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Hit:
    document: Document
    score: float

    def as_data(self) -> dict[str, object]:
        found = self.document
        return {"kind": found.kind, "id": found.identity, "title": found.title, "score": round(self.score, 3)}


def search(query: str, limit: int = 10) -> list[Hit]:
    """The best documents, best first; none where no word of the query is like any that is written."""
    index, words = _index(), _words(query)
    scores: dict[int, float] = defaultdict(float)
    for word in words:
        for number, gained in index.gains(word).items():
            scores[number] += gained
    for number in scores:
        if index.names[number] == frozenset(words):
            scores[number] *= NAMED
    ordered = sorted(scores.items(), key=lambda each: (-each[1], index.documents[each[0]].identity))
    return [Hit(index.documents[number], score) for number, score in ordered[:limit]]


@dataclass(frozen=True, slots=True)
class _Index:
    documents: tuple[Document, ...]
    lengths: Sequence[float]  # of each, against the mean
    names: Sequence[frozenset[str]]  # the words of each one's identity
    documents_of: Mapping[str, Mapping[int, float]]  # word -> document -> weight of the word there
    words: Sequence[str]  # in alphabetical order
    letters: Sequence[int]  # of each word, as a set of bits

    def gains(self, word: str) -> dict[int, float]:
        """What the documents score by the word: by the best of those that it may stand for."""
        best: dict[int, float] = {}
        # a rare word that the query's word merely begins is worth no more than the word itself
        most = self.rarity(word) if word in self.documents_of else math.inf
        for term, likeness in self.like(word).items():
            worth = likeness * min(self.rarity(term), most)
            for number, weight in self.documents_of[term].items():
                enough = SATURATION * (1.0 - LENGTH + LENGTH * self.lengths[number])
                gained = worth * weight * (SATURATION + 1.0) / (weight + enough)
                best[number] = max(best.get(number, 0.0), gained)
        return best

    def rarity(self, word: str) -> float:
        having = len(self.documents_of[word])
        return math.log(1.0 + (len(self.documents) - having + 0.5) / (having + 0.5))

    def like(self, word: str) -> dict[str, float]:
        """Written words that this may stand for, and how much they count."""
        found = dict.fromkeys(self._begun_by(word), BEGINNING) if len(word) > 2 else {}
        if word in self.documents_of:
            found[word] = LIKENESS[0]
        return found or dict(self._misspelt(word))

    def _begun_by(self, word: str) -> Sequence[str]:
        return self.words[bisect_left(self.words, word) : bisect_left(self.words, word + "\uffff")]

    def _misspelt(self, word: str) -> Iterator[tuple[str, float]]:
        most = 2 if len(word) > 6 else 1 if len(word) > 3 else 0
        own = _letters(word)
        for each, letters in zip(self.words, self.letters, strict=True):
            # a letter that is inserted, dropped or replaced takes one from the word's set at most
            if abs(len(each) - len(word)) <= most and (own & ~letters).bit_count() <= most:
                away = _distance(word, each, most)
                if away <= most:
                    yield each, LIKENESS[away]


@functools.cache
def _index() -> _Index:
    documents = tuple(_documents())
    weights: dict[str, dict[int, float]] = defaultdict(dict)
    lengths: list[int] = []
    for number, document in enumerate(documents):
        counted = Counter(_words(document.text))
        lengths.append(counted.total())
        for word in _words(f"{document.identity} {document.title}"):
            counted[word] += NAME_WEIGHT  # type: ignore[assignment]
        for word, weight in counted.items():
            weights[word][number] = weight
    words = sorted(weights)
    mean = sum(lengths) / len(lengths)
    names = [frozenset(_words(document.identity)) for document in documents]
    return _Index(documents, [each / mean for each in lengths], names, weights, words, list(map(_letters, words)))


def _documents() -> Iterator[Document]:
    for entry in entries().values():
        yield Document("api", entry.name, entry.declaration, f"{entry.summary} {entry.result}")
    for rule in CODES.values():
        yield Document("diagnostic", rule.code, rule.title, f"{rule.rule} {rule.wrong} {rule.right}")
    for page in pages().values():
        for section in page.sections:
            yield Document("page", section.identity, section.title, section.text)


def _words(text: str) -> list[str]:
    spread = re.sub(r"([a-z])([A-Z])", r"\1 \2", text).replace("_", " ").lower()
    return [word for word in _WORD.findall(spread) if len(word) > 1 and word not in _COMMON]


def _letters(word: str) -> int:
    return functools.reduce(operator.or_, (1 << (ord(letter) - ord("0")) for letter in word))


def _distance(first: str, second: str, most: int) -> int:
    """Letters to insert, drop, replace or swap with their neighbour; `most + 1` if there are more."""
    if abs(len(first) - len(second)) > most:
        return most + 1
    before: list[int] = []
    row = list(range(len(second) + 1))
    for i, letter in enumerate(first, 1):
        earlier, before, row = before, row, [i]
        for j, other in enumerate(second, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (letter != other))
            if i > 1 and j > 1 and letter == second[j - 2] and first[i - 2] == other:
                cost = min(cost, earlier[j - 2] + 1)
            row.append(cost)
        if min(row) > most:
            return most + 1
    return row[-1]
