"""Mutants of Triton kernels: one change each, of a kind that means something or of a kind that must not.

Works on syntax trees alone: every place in a kernel where a kind of change applies gives one mutant.
"""

from __future__ import annotations

import ast
import copy
import textwrap
from collections.abc import Callable, Iterator, Sequence

from intent.records import dataclass

MEANINGFUL = ("constant", "bound", "mask", "stride", "axis", "dtype", "operator")
NEUTRAL = ("name", "tile size", "operand order", "hint")

Change = Callable[[ast.AST], str | None]  # changes the node in place and says how, or gives None


@dataclass(frozen=True, slots=True)
class Mutant:
    """`text` is the whole file with the kernel changed; `constants` are other block sizes to launch with."""

    kernel: str
    kind: str
    line: int
    what: str
    text: str
    constants: tuple[tuple[str, int], ...] = ()

    @property
    def neutral(self) -> bool:
        return self.kind in NEUTRAL


def mutants(text: str, kernel: str) -> Iterator[Mutant]:
    """All mutants of one kernel of a file, in a fixed order."""
    function = _function(ast.parse(text), kernel)
    integers = _integer_parameters(function)
    for kind, change in (
        ("constant", _constant),
        ("bound", _bound),
        ("mask", _mask),
        ("stride", lambda node: _stride(node, integers)),
        ("axis", _axis),
        ("dtype", _dtype),
        ("operator", _operator),
        ("operand order", _order),
        ("hint", _hint),
    ):
        yield from _changed(text, kernel, kind, change)
    yield from _renamed(text, kernel)
    yield from _other_tiles(text, kernel)


def _function(tree: ast.Module, kernel: str) -> ast.FunctionDef:
    return next(each for each in ast.walk(tree) if isinstance(each, ast.FunctionDef) and each.name == kernel)


def _integer_parameters(function: ast.FunctionDef) -> tuple[str, ...]:
    """Parameters that are sizes or strides, by how they are used: a factor or a bound, and no pointer."""
    arguments = [each.arg for each in function.args.args if each.annotation is None]
    pointers = {
        name.id
        for call in ast.walk(function)
        if isinstance(call, ast.Call) and ast.unparse(call.func) in ("tl.load", "tl.store")
        for name in ast.walk(call.args[0])
        if isinstance(name, ast.Name)
    }
    factors = {
        side.id
        for node in ast.walk(function)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult)
        for side in (node.left, node.right)
        if isinstance(side, ast.Name)
    }
    bounds = {
        node.comparators[0].id
        for node in ast.walk(function)
        if isinstance(node, ast.Compare) and isinstance(node.comparators[0], ast.Name)
    }
    return tuple(name for name in arguments if name in factors | bounds and (name in factors or name not in pointers))


def _changed(text: str, kernel: str, kind: str, change: Change) -> Iterator[Mutant]:
    function = _function(ast.parse(text), kernel)
    for place, node in enumerate(_nodes(function)):
        if change(copy.deepcopy(node)) is None:
            continue
        mutant = copy.deepcopy(function)
        node = list(_nodes(mutant))[place]
        line = getattr(node, "lineno", 0)
        what = change(node)
        assert what is not None
        yield Mutant(kernel, kind, line, what, _with_function(text, function, mutant))


def _nodes(function: ast.FunctionDef) -> Iterator[ast.AST]:
    for statement in function.body:
        yield from ast.walk(statement)


def _with_function(text: str, function: ast.FunctionDef, other: ast.FunctionDef) -> str:
    """The file with another function in the place of this one."""
    lines = text.splitlines(keepends=True)
    first = min(each.lineno for each in (function, *function.decorator_list)) - 1
    assert function.end_lineno is not None
    ast.fix_missing_locations(other)
    made = textwrap.indent(ast.unparse(other), " " * function.col_offset)
    return "".join((*lines[:first], made, "\n", *lines[function.end_lineno :]))


# --------------------------------------------------------------------------------------------------- changes that count
def _constant(node: ast.AST) -> str | None:
    if not isinstance(node, ast.Constant) or isinstance(node.value, bool | str) or node.value is None:
        return None
    old = node.value
    assert isinstance(old, int | float)
    node.value = old + 1 if isinstance(old, int) else old * 1.5 + 0.25
    return f"{old} is {node.value}"


def _bound(node: ast.AST) -> str | None:
    match node:
        case ast.Compare(ops=[ast.Lt()]):
            node.ops = [ast.LtE()]
            return "< is <="
        case ast.Call(func=ast.Name("range"), args=[*_, _] as arguments):
            place = 0 if len(arguments) == 1 else 1
            node.args[place] = ast.BinOp(node.args[place], ast.Sub(), ast.Constant(1))
            return "a range ends one earlier"
        case _:
            return None


def _mask(node: ast.AST) -> str | None:
    if not isinstance(node, ast.Call) or ast.unparse(node.func) not in ("tl.load", "tl.store"):
        return None
    for keyword in node.keywords:
        if keyword.arg == "mask" and isinstance(keyword.value, ast.BinOp):
            keyword.value = keyword.value.left
            return "half a mask is dropped"
        if keyword.arg == "other":
            keyword.value = ast.BinOp(keyword.value, ast.Add(), ast.Constant(1))
            return "other is one more"
    return None


def _stride(node: ast.AST, integers: Sequence[str]) -> str | None:
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Mult):
        return None
    for side in ("right", "left"):
        name = getattr(node, side)
        if isinstance(name, ast.Name) and name.id in integers and len(integers) > 1:
            other = integers[(integers.index(name.id) + 1) % len(integers)]
            setattr(node, side, ast.Name(other, ast.Load()))
            return f"{name.id} is {other}"
    return None


def _axis(node: ast.AST) -> str | None:
    if not isinstance(node, ast.Call) or not ast.unparse(node.func).startswith("tl."):
        return None
    reduces = ast.unparse(node.func) in ("tl.sum", "tl.max", "tl.min", "tl.reduce", "tl.argmax")
    for keyword in node.keywords:
        if keyword.arg == "axis" and isinstance(keyword.value, ast.Constant) and isinstance(keyword.value.value, int):
            keyword.value = ast.Constant(1 - keyword.value.value)
            return "the other axis"
    if reduces and len(node.args) > 1 and isinstance(node.args[1], ast.Constant) and node.args[1].value in (0, 1):
        node.args[1] = ast.Constant(1 - int(str(node.args[1].value)))
        return "the other axis"
    return None


DTYPES = {"float32": "float16", "float16": "float32", "int64": "int16", "int32": "int8", "int8": "int32"}


def _dtype(node: ast.AST) -> str | None:
    if not isinstance(node, ast.Attribute) or ast.unparse(node.value) != "tl" or node.attr not in DTYPES:
        return None
    old = node.attr
    node.attr = DTYPES[old]
    return f"{old} is {node.attr}"


OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult, ast.BitAnd: ast.BitOr,
    ast.FloorDiv: ast.Mod, ast.Mod: ast.FloorDiv,
}  # fmt: skip
FUNCTIONS = {
    "maximum": "minimum", "minimum": "maximum", "max": "sum", "sum": "max", "exp": "exp2", "exp2": "exp", "log": "exp",
    "sqrt": "abs", "rsqrt": "abs", "abs": "exp", "erf": "abs", "sigmoid": "exp",
}  # fmt: skip


def _operator(node: ast.AST) -> str | None:
    match node:
        case ast.BinOp(op=operator) if type(operator) in OPERATORS:
            node.op = OPERATORS[type(operator)]()
            return f"{type(operator).__name__} is {type(node.op).__name__}"
        case ast.Call(func=ast.Attribute(value=ast.Name("tl"), attr=name) as function) if name in FUNCTIONS:
            function.attr = FUNCTIONS[name]
            return f"{name} is {function.attr}"
        case _:
            return None


# ------------------------------------------------------------------------------------------------- changes that do not
def _order(node: ast.AST) -> str | None:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Mult | ast.BitAnd):
        node.left, node.right = node.right, node.left
        return "operands are swapped"
    return None


def _hint(node: ast.AST) -> str | None:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range":
        node.func = ast.parse("tl.range", mode="eval").body
        node.keywords.append(ast.keyword("num_stages", ast.Constant(2)))
        return "a loop is pipelined"
    if isinstance(node, ast.Call) and ast.unparse(node.func) == "tl.arange":
        node.args = [ast.Call(node.func, node.args, node.keywords), ast.List([ast.Constant(1)], ast.Load())]
        node.func, node.keywords = ast.parse("tl.max_contiguous", mode="eval").body, []
        return "lanes are hinted at"
    return None


def _renamed(text: str, kernel: str) -> Iterator[Mutant]:
    """Every name that the kernel assigns, and every parameter, with another name; no parameter if other files may
    launch it.
    """
    function = _function(ast.parse(text), kernel)
    parameters = {each.arg for each in function.args.args}
    launched = any(map(_is_launch(kernel), ast.walk(ast.parse(text))))
    names = parameters if launched else set()
    names |= {each.id for each in ast.walk(function) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
    constexprs = {each.arg for each in function.args.args if each.annotation is not None}
    chosen = sorted(names - (constexprs if launched else parameters))
    tree = ast.parse(text)
    body = _function(tree, kernel)
    for each in ast.walk(body):
        if isinstance(each, ast.Name) and each.id in chosen:
            each.id = _other_name(each.id, chosen)
        if isinstance(each, ast.arg) and each.arg in chosen:
            each.arg = _other_name(each.arg, chosen)
    what = f"{len(chosen)} names are permuted"
    tree = _with_keywords(tree, kernel, chosen)
    yield Mutant(kernel, "name", function.lineno, what, ast.unparse(tree))


def _other_tiles(text: str, kernel: str) -> Iterator[Mutant]:
    """Blocks of half the size, wherever host code says how large they are."""
    tree = ast.parse(text)
    function = _function(tree, kernel)
    constexprs = {each.arg for each in function.args.args if each.annotation is not None}
    for host in [each for each in ast.walk(tree) if isinstance(each, ast.FunctionDef) and each.name != kernel]:
        if not any(isinstance(each, ast.Name) and each.id == kernel for each in ast.walk(host)):
            continue
        values = {value.value for name, value in _named_values(host) if name in constexprs and _is_size(value)}
        for each in ast.walk(host):
            if isinstance(each, ast.Constant) and _is_size(each) and each.value in values:
                each.value = int(str(each.value)) // 2
        if values:
            what = f"blocks of {sorted(map(str, values))} are halved"
            yield Mutant(kernel, "tile size", function.lineno, what, ast.unparse(tree))
            return
        rounded = [each for each in ast.walk(host) if isinstance(each, ast.Assign) and _is_rounded(each.value)]
        for each in rounded:
            each.value = ast.BinOp(ast.Constant(2), ast.Mult(), each.value)
        if rounded:
            ast.fix_missing_locations(tree)
            yield Mutant(kernel, "tile size", function.lineno, "blocks of a row are doubled", ast.unparse(tree))
            return


def _is_rounded(value: ast.expr) -> bool:
    return isinstance(value, ast.Call) and ast.unparse(value.func) == "triton.next_power_of_2"


def _named_values(host: ast.FunctionDef) -> Iterator[tuple[str | None, ast.Constant]]:
    """Constants that are passed by name, to a launch or in the table of a plan."""
    for node in ast.walk(host):
        if (
            isinstance(node, ast.Assign)
            and isinstance(node.targets[0], ast.Name)
            and isinstance(node.value, ast.Constant)
        ):
            yield node.targets[0].id, node.value
        if isinstance(node, ast.keyword) and isinstance(node.value, ast.Constant):
            yield node.arg, node.value
        if isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                if isinstance(key, ast.Constant) and isinstance(value, ast.Constant):
                    yield str(key.value), value


def _is_size(value: ast.Constant) -> bool:
    return isinstance(value.value, int) and not isinstance(value.value, bool) and value.value >= 32


def _with_keywords(tree: ast.Module, kernel: str, chosen: Sequence[str]) -> ast.Module:
    """Launches that pass parameters by name pass them by their new names; so do decorators, and grids that look them
    up.
    """
    launches = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and _is_launch(kernel)(node)]
    for keyword in [keyword for launch in launches for keyword in launch.keywords]:
        if keyword.arg in chosen:
            keyword.arg = _other_name(str(keyword.arg), chosen)
    named = [*_function(tree, kernel).decorator_list, *_grids(tree, launches)]
    for constant in [each for node in named for each in ast.walk(node)]:
        if isinstance(constant, ast.Constant) and constant.value in chosen:
            constant.value = _other_name(str(constant.value), chosen)
    return copy.deepcopy(tree)


def _is_launch(kernel: str) -> Callable[[ast.AST], bool]:
    def says(node: ast.AST) -> bool:
        launch = isinstance(node, ast.Call) and isinstance(node.func, ast.Subscript)
        return launch and ast.unparse(node.func.value) == kernel  # type: ignore[attr-defined]

    return says


def _grids(tree: ast.Module, launches: Sequence[ast.Call]) -> Iterator[ast.AST]:
    """What the launches have in brackets, and functions that are bound to a name there."""
    grids = [launch.func.slice for launch in launches if isinstance(launch.func, ast.Subscript)]
    names = {each.id for each in grids if isinstance(each, ast.Name)}
    yield from (each for each in grids if not isinstance(each, ast.Name))
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Lambda):
            if names & {each.id for each in node.targets if isinstance(each, ast.Name)}:
                yield node.value
        elif isinstance(node, ast.FunctionDef) and node.name in names:
            yield node


def _other_name(name: str, chosen: Sequence[str]) -> str:
    """Names move round: the worst renaming is by names that already mean something."""
    return chosen[(chosen.index(name) + 1) % len(chosen)]
