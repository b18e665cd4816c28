"""What names and dotted names mean: names of a file, members of modules, of the language, and of enums."""

from __future__ import annotations

import ast
import math
from typing import Final

from intent.annotations import canonical_dtype_name
from intent.dtypes import BY_NAME
from intent.language import CONSTANTS, FORMATS, INTRINSICS, NAMESPACES
from translators.intent_source.read import codes
from translators.intent_source.read.operands import EnumClass, EnumMember, Format, IntrinsicName, Literal, Text, Token
from translators.intent_source.read.scope import (
    REFERENCES,
    Binding,
    Builtin,
    Deferred,
    FileModule,
    Form,
    HostName,
    ModuleScope,
    Namespace,
    closest,
    suggestion,
)

BUILTINS: Final = frozenset(
    {"range", "enumerate", "slice", "len", "min", "max", "abs", "int", "float", "bool", "round", "sum", "pow", "tuple",
     "zip", "print", "list", "any", "all", "isinstance", "reversed", "sorted", "map", "str", "divmod"}
)  # fmt: skip
FORMS: Final = frozenset({"In", "Out", "InOut", "Constexpr", "constraints", "Enum", "dtype"})
LANGUAGE: Final = "intent.language"
_MATH: Final = frozenset(
    {"sqrt", "log", "log2", "log10", "exp", "floor", "ceil", "sin", "cos", "tan", "tanh", "pow", "gcd", "prod", "fabs"}
)


def module_name(scope: ModuleScope, name: str, node: ast.AST) -> Binding | None:
    """A name at the level of a file, or a builtin; None if there is none."""
    binding = scope.names.get(name)
    if binding is None:
        return Builtin(name) if name in BUILTINS else None
    if isinstance(binding, Deferred):
        binding = _imported(scope, binding, node)
        scope.names[name] = binding
    return binding


def _imported(scope: ModuleScope, deferred: Deferred, node: ast.AST) -> Binding:
    """`import module`, `from module import member`, and `from package import module`."""
    member = deferred.member
    span = scope.source.span(node)
    if member is None:
        return FileModule(scope.loader.module(scope, deferred.module, deferred.level, span))
    if not deferred.module:
        return FileModule(scope.loader.module(scope, member, deferred.level, span))
    found = scope.loader.module(scope, deferred.module, deferred.level, span)
    binding = module_name(found, member, node)
    if binding is None or isinstance(binding, Builtin):
        message = f"'{found.source.path}' defines no '{member}'"
        scope.reject(node, codes.IMPORT, message, suggestion(member, found.names))
    return binding


def member(scope: ModuleScope, owner: Binding, name: str, node: ast.AST) -> Binding | None:
    """`owner.name` where no runtime value is involved; None where the owner is a value and rules must decide."""
    match owner:
        case Namespace(path=path):
            return _namespace_member(scope, path, name, node)
        case IntrinsicName(path=path):
            return _language(scope, f"{path}.{name}", node)
        case FileModule(scope=other):
            found = module_name(other, name, node)
            if found is None or isinstance(found, Builtin):
                message = f"'{other.source.path}' defines no '{name}'"
                fix = scope.respelling(node, name, other.names)
                scope.reject(node, codes.UNKNOWN_NAME, message, suggestion(name, other.names), fix)
            return found
        case EnumClass(name=enum, members=members):
            if name not in members:
                message = f"{enum} has no member '{name}'"
                fix = scope.respelling(node, name, members)
                scope.reject(node, codes.UNKNOWN_NAME, message, suggestion(name, members, f"{enum}."), fix)
            return members[name]
        case EnumMember(name=own, value=value) if name in ("name", "value"):
            return Text(own) if name == "name" else Text(value) if isinstance(value, str) else Literal(value)
        case HostName():
            return owner
        case _ if isinstance(owner, REFERENCES):
            scope.reject(node, codes.NOT_A_VALUE, f"this has no member '{name}'")
        case _:
            return None


def _namespace_member(scope: ModuleScope, path: str, name: str, node: ast.AST) -> Binding:
    if path == LANGUAGE:
        return _language(scope, name, node)
    if path == "math":
        return _math(scope, name, node)
    match name:
        case "language":
            return Namespace(LANGUAGE)
        case "kernel" | "fn":
            return Form(name)
        case _:
            return HostName(f"intent.{name}, which belongs to host code")


def _math(scope: ModuleScope, name: str, node: ast.AST) -> Binding:
    if name in ("pi", "e", "inf", "nan", "tau"):
        return Literal(float(vars(math)[name]))
    if name in _MATH:
        return Builtin(f"math.{name}")
    return HostName(f"math.{name}, a Python function", suggestion(name, INTRINSICS, "I."))


def _language(scope: ModuleScope, path: str, node: ast.AST) -> Binding:
    """What `I.path` is."""
    if path in BY_NAME:
        return Token(BY_NAME[path])
    if path in CONSTANTS:
        return Literal(CONSTANTS[path])
    if path in FORMS:
        return Form(path)
    if path in FORMATS:
        return Format(path)
    if path in INTRINSICS or path in NAMESPACES:
        return IntrinsicName(path)
    help: str | None
    meant: str | None = None
    if path in ("kernel", "fn"):
        help = f"write @intent.{path}: the decorators are in `intent`"
    elif dtype := canonical_dtype_name(path):
        help, meant = f"did you mean 'I.{dtype}'?", dtype
    else:
        known = (*INTRINSICS, *NAMESPACES, *BY_NAME, *CONSTANTS, *FORMS, *FORMATS)
        help, meant = suggestion(path, known, "I."), closest(path, known)
    fix = scope.source.respelling(node, path, meant)
    scope.reject(node, codes.UNKNOWN_MEMBER, f"the language has no I.{path}", help, fix)
