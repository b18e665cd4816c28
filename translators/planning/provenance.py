"""Which domain an axis of a tensor value runs along, so that its coordinates can be the source's own."""

from __future__ import annotations

from translators.logical import program as lp
from translators.logical.program import Value
from translators.logical.types import Domain


def axis_origin(value: Value, ordinal: int) -> Domain | None:
    """The domain whose coordinates index this axis, seen through pointwise operations and layout; None if unknown."""
    match value.origin:
        case lp.Read(relation=relation) | lp.Pick(relation=relation):
            return _relation_origin(relation, ordinal)
        case lp.Indices(domain=domain):
            return domain
        case lp.Pointwise(arguments=arguments):
            return _broadcast_origin(value, arguments, ordinal)
        case lp.Select(condition=condition, true=true, false=false):
            return _broadcast_origin(value, (true, false, condition), ordinal)
        case lp.Merge(true=true, false=false):
            return _broadcast_origin(value, (true, false), ordinal)
        case lp.Cast(argument=argument) | lp.Bitcast(argument=argument) | lp.Broadcast(argument=argument):
            return _broadcast_origin(value, (argument,), ordinal)
        case lp.Transpose(argument=argument, permutation=permutation):
            return axis_origin(argument, permutation[ordinal])
        case lp.Reshape(argument=argument):
            return _reshape_origin(value, argument, ordinal)
        case lp.Join(lhs=lhs) if ordinal < len(lhs.shape):
            return axis_origin(lhs, ordinal)
        case lp.Scan(arguments=arguments):
            return axis_origin(arguments[value.position], ordinal)
        case lp.Reduce(arguments=arguments, axes=axes):
            kept = [axis for axis in range(len(arguments[0].shape)) if axis not in axes]
            return axis_origin(arguments[0], kept[ordinal]) if ordinal < len(kept) else None
        case lp.ArgReduce(argument=argument, axis=axis):
            return axis_origin(argument, ordinal + (ordinal >= axis))
        case lp.Intrinsic(result=result):
            return axis_origin(result, ordinal)
        case lp.Contract(lhs=lhs, rhs=rhs) as op:
            return _contract_origin(op, lhs, rhs, ordinal)
        case _:
            return None


def _broadcast_origin(value: Value, arguments: tuple[Value, ...], ordinal: int) -> Domain | None:
    for argument in arguments:
        own = ordinal - (len(value.shape) - len(argument.shape))
        if own >= 0 and argument.shape[own] == value.shape[ordinal]:
            found = axis_origin(argument, own)
            if found is not None:
                return found
    return None


def _relation_origin(relation: lp.Relation, ordinal: int) -> Domain | None:
    position, joint_seen = 0, False
    for item in relation.items:
        match item:
            case lp.Along(domain=domain):
                if position == ordinal:
                    return domain
                position += 1
            case lp.NewAxis():
                position += 1
            case lp.Gathered(index=tensor) if not joint_seen:
                joint_seen = True
                own = ordinal - position - (len(relation.joint_shape) - len(tensor.shape))
                if 0 <= own < len(tensor.shape) and tensor.shape[own] == relation.shape[ordinal]:
                    return axis_origin(tensor, own)
                position += len(relation.joint_shape)
            case _:
                pass
    return None


def _reshape_origin(value: Value, argument: Value, ordinal: int) -> Domain | None:
    """An axis survives a reshape if it is the only one of its extent on both sides besides size-one axes."""
    extent = value.shape[ordinal]
    own = [axis for axis, other in enumerate(argument.shape) if other == extent]
    here = [axis for axis, other in enumerate(value.shape) if other == extent]
    if len(own) == len(here) == 1 and extent.constant != 1:
        rest = [e for e in value.shape if e != extent and e.constant != 1]
        if rest == [e for e in argument.shape if e != extent and e.constant != 1]:
            return axis_origin(argument, own[0])
    return None


def _contract_origin(op: lp.Contract, lhs: Value, rhs: Value, ordinal: int) -> Domain | None:
    label = op.result_labels[ordinal]
    for operand, labels in ((lhs, op.lhs_labels), (rhs, op.rhs_labels)):
        if label in labels and operand.shape[labels.index(label)].constant != 1:
            return axis_origin(operand, labels.index(label))
    return None
