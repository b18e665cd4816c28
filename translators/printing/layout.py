"""The layout of a long statement, as the formatter `ruff format --line-length 120` leaves it.

Calls and brackets break inside. Operators, and the dots of a chain of method calls, break only inside brackets; an
expression that is in none gets a pair of its own, unless it has one loosest operator and brackets at an end, which
break instead.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Sequence

from intent.records import dataclass, field
from translators.printing.documents import NOTHING, SPACE, Document, Group, IfBroken, Indented, laid_out
from translators.printing.python_text import ATOM, grouping, precedence, syntax

WIDTH = 120
INDENT = "    "
_METHOD_CALL = ATOM + 1  # binds tighter than any operator
_Operand = ast.expr | tuple[str, int]  # or an operator: its text and precedence


def fold(indent: str, statement: str) -> list[str]:
    """The statement's lines at an indentation."""
    value = None if len(indent) + len(statement) <= WIDTH else _value(syntax(statement))
    if value is None:
        return [indent + statement]
    layout = _Layout(statement, value)
    prefix, suffix = statement[: value.col_offset], statement[value.end_col_offset :]
    plain: Document = (prefix, layout.document(value, inside=False), suffix)
    if layout.needs_brackets(value) and not layout.may_break_plain(laid_out(plain, WIDTH, len(indent), expanded=True)):
        content = layout.elements(value) if isinstance(value, ast.Tuple) else layout.document(value, inside=True)
        return laid_out((prefix, "(", Indented((NOTHING, content)), NOTHING, ")", suffix), WIDTH, len(indent))
    return laid_out(plain, WIDTH, len(indent))


def _value(tree: ast.stmt) -> ast.expr | None:
    """The expression of a statement that may break."""
    match tree:
        case ast.Assign(value=value) | ast.AugAssign(value=value) | ast.Expr(value=value) | ast.Return(value=value):
            return value
        case ast.For(iter=value) | ast.While(test=value) | ast.If(test=value):
            return value
        case _:
            return None


@dataclass(frozen=True, slots=True)
class _Layout:
    """Makes documents of the expressions in a statement's text, which keep its spelling and its brackets."""

    text: str
    root: ast.expr

    # --------------------------------------------------------------------------------------------- brackets or none
    def needs_brackets(self, node: ast.expr) -> bool:
        """Whether the expression may break only inside brackets."""
        match node:
            case ast.BinOp() | ast.Compare() | ast.BoolOp():
                return True
            case ast.UnaryOp(operand=operand):
                is_operation = isinstance(operand, ast.BinOp | ast.Compare | ast.BoolOp | ast.UnaryOp)
                return is_operation and not self.is_grouped(operand) and self.needs_brackets(operand)
            case ast.Tuple():
                return self.text[node.col_offset] != "("
            case _:
                return self._is_fluent(node)

    def may_break_plain(self, expanded: Sequence[str]) -> bool:
        """One loosest operator, brackets that are not empty at an end, and room even so."""
        outline = _Outline(self)
        outline.visit(self.root)
        loosest = min(outline.operators, default=0)
        ends = any(self._has_contents(node) for node in (outline.first, outline.last) if node is not None)
        return outline.operators.count(loosest) == 1 and ends and all(len(line) <= WIDTH for line in expanded)

    def is_grouped(self, node: ast.expr) -> bool:
        return node is not self.root and grouping(self.text, node)

    def ends_in_bracket(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Call | ast.Subscript) or self.is_grouped(node)

    def _has_contents(self, node: ast.expr) -> bool:
        """Brackets with something in them that may break outside others, which an index does not."""
        match node:
            case ast.Call(args=arguments, keywords=keywords):
                return bool(arguments or keywords) or self.is_grouped(node)
            case _:
                return (isinstance(node, ast.Tuple) and bool(node.elts)) or self.is_grouped(node)

    # ---------------------------------------------------------------------------------------------------- documents
    def document(self, node: ast.expr, inside: bool) -> Document:
        """`inside` brackets, operators may break."""
        if self.is_grouped(node):
            return Group(("(", Indented((NOTHING, self._bare(node, inside=True))), NOTHING, ")"))
        return self._bare(node, inside)

    def _bare(self, node: ast.expr, inside: bool) -> Document:
        match node:
            case ast.BinOp() | ast.Compare() | ast.BoolOp():
                return self._operation(self._flat(node, root=True), inside)
            case ast.UnaryOp(operand=operand):
                return self.text[node.col_offset : self._start(operand)], self.document(operand, inside)
            case ast.Call() | ast.Attribute() | ast.Subscript():
                is_fluent = inside and self._is_fluent(node)
                chain = self._chain(node, inside, is_fluent)
                return Group(chain) if is_fluent else chain
            case ast.Dict(keys=[_, *_]):
                return Group(("{", Indented((NOTHING, _listed(self._entries(node)))), NOTHING, "}"))
            case ast.Tuple(elts=[_, *_]) if self.text[node.col_offset] == "(":
                return Group(("(", Indented((NOTHING, self.elements(node))), NOTHING, ")"))
            case _:
                return self._source(node)

    def _source(self, node: ast.expr) -> str:
        return self.text[node.col_offset : node.end_col_offset]

    def _start(self, node: ast.expr) -> int:
        """Where the expression begins, with the bracket around it."""
        return node.col_offset - self.is_grouped(node)

    def _end(self, node: ast.expr) -> int:
        return (node.end_col_offset or 0) + self.is_grouped(node)

    # --------------------------------------------------------------------------------------------------- operations
    def _flat(self, node: ast.expr, root: bool = False) -> list[_Operand]:
        """Operands and operators in order, as far as they are in no brackets."""
        match node:
            case _ if not root and self.is_grouped(node):
                return [node]
            case ast.BinOp(left=left, right=right):
                operands = [left, right]
            case ast.Compare(left=left, comparators=others):
                operands = [left, *others]
            case ast.BoolOp(values=values):
                operands = list(values)
            case _:
                return [node]
        flat = self._flat(operands[0])
        for before, after in itertools.pairwise(operands):
            operator = self.text[self._end(before) : self._start(after)].strip()
            flat += [(operator, precedence(node)), *self._flat(after)]
        return flat

    def _operation(self, flat: Sequence[_Operand], inside: bool) -> Document:
        """Breaks before the loosest operators; what these join breaks on its own."""
        if len(flat) == 1 and isinstance(flat[0], ast.expr):
            return self.document(flat[0], inside)
        loosest = min(item[1] for item in flat if isinstance(item, tuple))
        parts: list[Document] = []
        joined: list[_Operand] = []
        for item in flat:
            if isinstance(item, tuple) and item[1] == loosest:
                parts += [self._operation(joined, inside), SPACE if inside else " ", f"{item[0]} "]
                joined = []
            else:
                joined.append(item)
        document: Document = (*parts, self._operation(joined, inside))
        return Group(document) if inside else document

    # ----------------------------------------------------------------------------------------------- calls, indices
    def _is_fluent(self, node: ast.expr) -> bool:
        """Two dots or more that follow a bracket: each goes on a line of its own."""
        count = 0
        while isinstance(node, ast.Call | ast.Attribute | ast.Subscript):
            follows = isinstance(node, ast.Attribute)
            node = node.func if isinstance(node, ast.Call) else node.value
            count += follows and self.ends_in_bracket(node)
            if self.is_grouped(node):
                break
        return count > 1

    def _chain(self, node: ast.expr, inside: bool, is_fluent: bool) -> Document:
        match node:
            case ast.Call(func=function):
                return self._link(function, inside, is_fluent), self._arguments(node)
            case ast.Subscript(value=value, slice=index):
                content = Indented((NOTHING, self._indices(index)))
                return self._link(value, inside, is_fluent), Group(("[", content, NOTHING, "]"))
            case ast.Attribute(value=value, attr=name):
                breaks = is_fluent and self.ends_in_bracket(value)
                return self._link(value, inside, is_fluent), NOTHING if breaks else "", f".{name}"
            case _:
                return self._source(node)

    def _link(self, node: ast.expr, inside: bool, is_fluent: bool) -> Document:
        is_chain = isinstance(node, ast.Call | ast.Attribute | ast.Subscript) and not self.is_grouped(node)
        return self._chain(node, inside, is_fluent) if is_chain else self.document(node, inside)

    def _arguments(self, call: ast.Call) -> Document:
        """On the line, on a line of their own, or one on each line with a comma after it."""
        named = [(f"{word.arg}=", self.document(word.value, inside=True)) for word in call.keywords]
        arguments: list[Document] = [*(self.document(argument, inside=True) for argument in call.args), *named]
        if not arguments:
            return "()"
        return Group(("(", Indented((NOTHING, Group(_listed(arguments)))), NOTHING, ")"))

    def _indices(self, index: ast.expr) -> Document:
        if isinstance(index, ast.Tuple) and len(index.elts) > 1 and self.text[index.col_offset] != "(":
            return Group(self.elements(index))
        return self.document(index, inside=True)

    def _entries(self, node: ast.Dict) -> list[Document]:
        pairs = zip(node.keys, node.values, strict=True)
        return [
            (f"{self._source(key)}: ", self.document(value, inside=True)) for key, value in pairs if key is not None
        ]

    def elements(self, node: ast.Tuple) -> Document:
        documents = [self.document(element, inside=True) for element in node.elts]
        return (documents[0], ",") if len(documents) == 1 else _listed(documents)


def _listed(documents: Sequence[Document]) -> Document:
    first, *others = documents
    return (first, *((",", SPACE, document) for document in others), IfBroken(","))


@dataclass(slots=True)
class _Outline:
    """What an expression is made of outside brackets: its operators' precedences, and its ends."""

    layout: _Layout
    operators: list[int] = field(default_factory=list)
    first: ast.expr | None = None
    last: ast.expr | None = None

    def visit(self, node: ast.expr) -> None:
        self.last = node
        if not self.layout.is_grouped(node):
            self._visit_inside(node)
        self.first = self.first or node

    def _visit_inside(self, node: ast.expr) -> None:
        match node:
            case ast.BinOp(left=left, right=right):
                self._visit_operation(node, [left, right])
            case ast.Compare(left=left, comparators=others):
                self._visit_operation(node, [left, *others])
            case ast.BoolOp(values=values):
                self._visit_operation(node, values)
            case ast.UnaryOp(op=operator, operand=operand):
                self.first = self.first or node
                self.operators += [precedence(node)] if isinstance(operator, ast.Not) else []
                self.visit(operand)
            case ast.Call(func=inner) | ast.Subscript(value=inner) | ast.Attribute(value=inner):
                self.visit(inner)
                if isinstance(node, ast.Attribute) and self.layout.ends_in_bracket(inner):
                    self.operators.append(_METHOD_CALL)
                self.last = node

    def _visit_operation(self, node: ast.expr, operands: Sequence[ast.expr]) -> None:
        self.operators += [precedence(node)] * (len(operands) - 1)
        for operand in operands:
            self.visit(operand)
