"""The typing rules of the language: what an expression means, apart from how it is written.

The syntax walker hands operands in; values come out, and the statements that compute them go to the builder. A
construct without a meaning raises `Rejected` with a diagnostic. Control flow and names are not this package's business.
"""

from translators.intent_source.read.rules.attributes import attribute
from translators.intent_source.read.rules.call import call_intrinsic
from translators.intent_source.read.rules.domains import iteration_domain, range_domain
from translators.intent_source.read.rules.literals import as_condition, as_value
from translators.intent_source.read.rules.memory import assign, subscript
from translators.intent_source.read.rules.pointwise import binary, compare, logical, select, unary
from translators.intent_source.read.rules.products import flatten, rebuild, unify

__all__ = [
    "as_condition", "as_value", "assign", "attribute", "binary", "call_intrinsic", "compare", "flatten",
    "iteration_domain", "logical", "range_domain", "rebuild", "select", "subscript", "unary", "unify",
]  # fmt: skip
