"""What `intent.compile` gives: a kernel that can be called, and looked into."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from intent.host.arguments import Values, bind, bind_inputs, check_values, with_outputs
from intent.host.interface import Interface
from intent.targets import Target
from translators.diagnostics import Diagnostic


class Execution(Protocol):
    """A kernel on a target. Values are in declaration order."""

    def launch(self, values: Values) -> None:
        """Check and execute; every runtime parameter is given."""
        ...

    def run(self, inputs: Values, sizes: Mapping[str, int]) -> Sequence[object]:
        """Check, execute, and give the outputs. `sizes` are the extents that only outputs have."""
        ...

    def allocate(self, inputs: Values, sizes: Mapping[str, int]) -> Sequence[object]:
        """Check the inputs and allocate outputs, without executing."""
        ...


class Generated(Protocol):
    """The text of a kernel's translation."""

    @property
    def source(self) -> str:
        """The generated module, as `intentc compile` writes it for the kernel's file."""
        ...

    @property
    def ir(self) -> str:
        """The kernel's logical program."""
        ...


class Artifact:
    """A compiled kernel.

    `artifact(...)` and `artifact.launch(...)` take every runtime parameter, `Out` included, and return None.
    `artifact.run(...)` omits the `Out` parameters and returns them. Constexprs were bound by compiling.
    """

    __slots__ = ("_count", "_execution", "_generated", "_operators", "diagnostics", "interface", "target")

    def __init__(
        self,
        interface: Interface,
        target: Target,
        execution: Execution,
        generated: Generated,
        diagnostics: tuple[Diagnostic, ...],
    ) -> None:
        self.interface = interface
        self.target = target
        self.diagnostics = diagnostics
        self._execution = execution
        self._generated = generated
        self._operators: dict[str, Callable[..., Any]] = {}
        self._count = len(interface.parameters)

    @property
    def source(self) -> str:
        """The generated module's text, equal to what the command line writes for the kernel's file."""
        return self._generated.source

    @property
    def ir(self) -> str:
        """The kernel's logical program as text."""
        return self._generated.ir

    # ------------------------------------------------------------------------------------------------------- execution
    def __call__(self, /, *arguments: object, **keywords: object) -> None:
        """Execute once on all runtime parameters, in declaration order."""
        if keywords or len(arguments) != self._count:
            arguments = bind(self.interface.name, self.interface.parameters, arguments, keywords)
        self._execution.launch(arguments)

    launch = __call__

    def run(self, /, *arguments: object, **keywords: object) -> Any:  # noqa: ANN401 - arrays of the caller's library
        """Execute on everything but the outputs, and return them: None, the output, or a tuple of outputs.

        Extents that only outputs have are keywords.
        """
        inputs, sizes = bind_inputs(self.interface, arguments, keywords)
        return unwrap(self._execution.run(inputs, sizes))

    def prepare(self, /, *arguments: object, outputs: object = None, **keywords: object) -> PreparedCall:
        """Check and bind the arguments of a call, without executing it.

        `outputs` are the `Out` arguments in order, allocated here if they are left out.
        """
        inputs, sizes = bind_inputs(self.interface, arguments, keywords)
        bound = tuple(self._execution.allocate(inputs, sizes)) if outputs is None else self._given(outputs)
        values = with_outputs(self.interface, inputs, bound)
        check_values(self.interface, values)
        return PreparedCall(self._execution, values, bound)

    def _given(self, outputs: object) -> Values:
        given = tuple(outputs) if isinstance(outputs, (tuple, list)) else (outputs,)
        wanted = [output.name for output in self.interface.outputs]
        if len(given) != len(wanted):
            message = f"outputs has {len(given)} arrays for {len(wanted)} outputs ({', '.join(wanted) or 'none'})"
            raise TypeError(f"{self.interface.name}: {message}")
        return given

    def as_torch_op(self, name: str) -> Callable[..., Any]:
        """`run` as a PyTorch operator, `namespace::name`; a name without a namespace goes to `intent::`.

        The operator works under `torch.compile`: shapes of results are known without executing, and the `InOut`
        parameters are declared to be mutated. It has no gradient. ValueError if another operator has the name.
        """
        from intent.host.torch_operator import torch_operator

        if name not in self._operators:
            self._operators[name] = torch_operator(self, name)
        return self._operators[name]

    def is_same(self, other: Artifact) -> bool:
        """Whether both were compiled from one text, in one way, for one target."""
        return (self.target, self._generated) == (other.target, other._generated)

    def __repr__(self) -> str:
        return f"<artifact {self.interface} on {self.target}>"


class PreparedCall:
    """A call whose arguments are bound. `launch` may be called any number of times."""

    __slots__ = ("_count", "_execution", "_outputs", "_values")

    def __init__(self, execution: Execution, values: Values, outputs: Values) -> None:
        self._execution = execution
        self._values = values
        self._outputs = outputs

    def launch(self) -> None:
        """Execute once. NumPy arguments: complete on return; device arguments: on the current stream."""
        self._execution.launch(self._values)

    def result(self) -> Any:  # noqa: ANN401 - arrays of the caller's library
        """The outputs, whether or not anything was executed: None, the output, or a tuple. Does not wait."""
        return unwrap(self._outputs)


def unwrap(results: Sequence[object]) -> object:
    """One result stands for itself, several are a tuple, none is None."""
    return tuple(results) if len(results) > 1 else results[0] if results else None
