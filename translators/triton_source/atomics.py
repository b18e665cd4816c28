"""How atomic updates are spelled: `tl.atomic_*` where Triton has the update, else a device function around
`tl.atomic_cas`.

Triton updates 32- and 64-bit integers, adds and exchanges floats of 32 and 64 bits, and adds those of 16. Its compare
and swap has no mask. Everything else is a loop that compares and swaps until nothing came between, on the 32-bit word
that an element of 8 or 16 bits lies in. A lane that is not to touch its element swaps nothing for nothing at `spare`,
an element that there is whenever some lane is to.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from intent.dtypes import DType, bf16, f16, u8, u16
from intent.records import dataclass
from translators.triton_source.arithmetic import pointwise
from translators.triton_source.conversions import TRITON_NAME, bitcast, reinterpreted
from translators.triton_source.expressions import Code, Emitted, call, method

_TRITON = {
    "add": "tl.atomic_add", "max": "tl.atomic_max", "min": "tl.atomic_min",
    "and": "tl.atomic_and", "or": "tl.atomic_or", "xor": "tl.atomic_xor", "compare_exchange": "tl.atomic_cas",
}  # fmt: skip
_COMBINED = {"add": "add", "max": "maximum", "min": "minimum", "and": "and", "or": "or", "xor": "xor"}


@dataclass(frozen=True, slots=True)
class Update:
    """One update of elements of `dtype`: its operands for every lane, and where."""

    action: str
    order: str
    dtype: DType
    pointer: Code
    operands: Sequence[Code]
    mask: Code | None
    spare: Code
    lanes: bool  # tiles, not single values


def updated(update: Update) -> tuple[Emitted, dict[str, str]]:
    """The call that performs the update and gives the old values; device functions of the module that it needs."""
    masked = {"mask": update.mask.text} if update.mask is not None else {}
    if update.action == "load" and update.order == "relaxed":
        return Emitted(call("tl.load", update.pointer, **masked, volatile="True")), {}
    if not is_native(update):
        return _by_function(update)
    semantics = {"sem": f'"{update.order}"'}
    if update.dtype.is_float and update.action in ("exchange", "store"):
        return _exchanged_bits(update, masked | semantics), {}
    if update.action in ("exchange", "store"):
        pointer = call("_as_number", update.pointer)
        exchanged = call("tl.atomic_xchg", pointer, *update.operands, **masked, **semantics)
        return Emitted(exchanged, frozenset({"_as_number"})), {}
    if update.action == "load":
        return Emitted(call("tl.atomic_or", update.pointer, Code("0", value=0), **masked, **semantics)), {}
    return Emitted(call(_TRITON[update.action], update.pointer, *update.operands, **masked, **semantics)), {}


def is_native(update: Update) -> bool:
    """Triton has the update, with the mask if there is one."""
    if update.action == "compare_exchange":
        return update.mask is None and not update.dtype.is_float and update.dtype.bits >= 32
    return not swaps(update.action, update.order, update.dtype)


def swaps(action: str, order: str, dtype: DType) -> bool:
    """The update is made of compare and swap."""
    if action == "load" and order == "relaxed":
        return False
    if action == "compare_exchange" or dtype.kind == "bool" or dtype.bits < 32:
        return (action, dtype) != ("add", f16)
    return dtype.is_float and action not in ("add", "exchange", "store")


def _exchanged_bits(update: Update, keywords: Mapping[str, str]) -> Emitted:
    """Of floats Triton exchanges the bits; the CPU interpreter, only bits."""
    word = f"tl.int{update.dtype.bits}"
    pointer = method(update.pointer, "to", f"tl.pointer_type({word})")
    value = Code(_bits(update.operands[0].text, update.dtype))
    exchanged = call("tl.atomic_xchg", pointer, value, **keywords)
    if update.action == "store":
        return Emitted(exchanged)
    return Emitted(method(exchanged, "to", TRITON_NAME[update.dtype.name], "bitcast=True"))


def _by_function(update: Update) -> tuple[Emitted, dict[str, str]]:
    action = "exchange" if update.action == "store" else update.action
    function, helpers = _function(action, update.dtype)
    name = f"_atomic_{action}_{update.dtype.name}"
    parts = (update.pointer, *update.operands, _condition(update), update.spare, Code(f'"{update.order}"'))
    return Emitted(call(name, *parts), helpers), {name: function}


def _condition(update: Update) -> Code:
    """The mask as a value of Triton's: the CPU interpreter has Python's for single ones."""
    if update.lanes:
        assert update.mask is not None
        return update.mask
    return Code(f"tl.full((), {update.mask.text if update.mask is not None else 'True'}, tl.int1)")


# ----------------------------------------------------------------------------------------------------- device functions
def _function(action: str, dtype: DType) -> tuple[str, frozenset[str]]:
    """The text of the device function, and what it calls."""
    operands = {"load": (), "compare_exchange": ("expected", "desired")}.get(action, ("value",))
    emitted = _new_element(action, dtype, operands)
    word = _whole_word(dtype) if dtype.bits >= 32 else _part_of_word(dtype)
    compared = [f"pending = pending & ({_bits('old', dtype)} == {_bits('expected', dtype)})"]
    lines = [
        f"# {_PURPOSE.get(action, 'Triton has no such atomic:')} compare and swap until nothing came between.",
        *word.place,
        "seen = tl.load(place, mask=condition, other=0, volatile=True)",
        "pending = condition",
        "while _any_lane(pending):",
        f"    old = {word.element}",
        *(f"    {line}" for line in (compared if action == "compare_exchange" else [])),
        f"    new = {_bits(emitted.code.text, dtype)}",
        *(f"    {line}" for line in word.replacement),
        "    found = tl.atomic_cas(place, seen, tl.where(pending, new, seen), sem=ORDER)",
        "    pending = pending & (found != seen)",
        "    seen = tl.where(pending, found, seen)",
        f"return {word.element}",
    ]
    helpers = emitted.helpers | {"_any_lane"}
    if (action, dtype) == ("add", bf16):
        lines, helpers = _interpreted_only(lines), helpers | {"_INTERPRETED"}
    parameters = ", ".join(["pointer", *operands, "condition", "spare", "ORDER: tl.constexpr"])
    body = "\n".join(f"    {line}" for line in lines)
    return f"@triton.jit\ndef _atomic_{action}_{dtype.name}({parameters}):\n{body}", helpers


def _interpreted_only(lines: Sequence[str]) -> list[str]:
    """The loop for the CPU interpreter alone, which cannot add bfloat16."""
    *loop, result = lines[1:]
    return [
        "# tl.atomic_add, which the CPU interpreter lacks for bfloat16.",
        "if _INTERPRETED:",
        *(f"    {line}" for line in [*loop, result.replace("return", "old =", 1)]),
        "else:",
        "    old = tl.atomic_add(pointer, value, mask=condition, sem=ORDER)",
        "return old",
    ]


_PURPOSE = {
    "max": "The largest, NaN if there is one:", "min": "The smallest, NaN if there is one:",
    "compare_exchange": "Exchange where the element has the expected bits:", "load": "An ordered load:",
}  # fmt: skip


def _new_element(action: str, dtype: DType, operands: Sequence[str]) -> Emitted:
    match action:
        case "load":
            return Emitted(Code("old"))
        case "exchange" | "compare_exchange":
            return Emitted(Code(operands[-1]))
        case _:
            return pointwise(_COMBINED[action], dtype, dtype, (Code("old"), Code(operands[0])))


@dataclass(frozen=True, slots=True)
class _Word:
    """Lines that find the word, the element in the word `seen`, and lines that make a whole word of `new`."""

    place: tuple[str, ...]
    element: str
    replacement: tuple[str, ...] = ()


_ADDRESS = "address = tl.where(condition, pointer.to(tl.int64), spare.to(tl.int64))"


def _whole_word(dtype: DType) -> _Word:
    word = f"tl.int{dtype.bits}"
    element = f"seen.to({TRITON_NAME[dtype.name]}, bitcast=True)" if dtype.is_float or not dtype.is_signed else "seen"
    return _Word((_ADDRESS, f"place = address.to(tl.pointer_type({word}))"), element)


def _part_of_word(dtype: DType) -> _Word:
    """Elements are aligned, so that none lies in two words."""
    ones = (1 << dtype.bits) - 1
    place = (
        _ADDRESS,
        "place = (address & -4).to(tl.pointer_type(tl.int32))",
        "shift = ((address & 3) * 8).to(tl.int32)",
        f"others = ~(tl.zeros_like(shift) + {ones:#x} << shift)",
    )
    bits = f"((seen >> shift) & {ones:#x})"
    if dtype.kind == "bool":
        return _Word(place, f"({bits} != 0)", ("new = (seen & others) | (new << shift)",))
    unsigned = f"tl.uint{dtype.bits}"
    element = reinterpreted(Code(f"{bits}.to({unsigned})"), unsigned, TRITON_NAME[dtype.name])
    return _Word(place, element.text, ("new = (seen & others) | (new << shift)",))


def _bits(text: str, dtype: DType) -> str:
    """An element as the integer that stands in a word."""
    code = Code(text) if text.isidentifier() else Code(f"({text})")
    if dtype.kind == "bool":
        return method(code, "to", "tl.int32").text
    if dtype.bits >= 32:
        same = not dtype.is_float and dtype.is_signed
        return text if same else method(code, "to", f"tl.int{dtype.bits}", "bitcast=True").text
    unsigned = u8 if dtype.bits == 8 else u16
    return method(bitcast(code, dtype, unsigned).code, "to", "tl.int32").text
