"""The text of composed functions in a generated module: the author's code with its names put in, and its wrappers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from intent.records import dataclass
from translators.logical.composition import (
    Composition,
    Defined,
    Definition,
    Host,
    KernelFunction,
    KernelParameter,
    KernelValue,
    Parameter,
    Reference,
    Text,
)
from translators.triton_source.composition_layout import laid_out
from translators.triton_source.module_kernels import local
from translators.triton_source.module_layout import call
from translators.triton_source.module_names import CompositionNames, KernelNames, PublicNames


@dataclass(frozen=True, slots=True)
class Composer:
    """Puts names into host code. `kernels` has the names of every kernel of the program."""

    host: Host
    names: CompositionNames
    kernels: Mapping[str, KernelNames]

    def texts(self) -> list[str]:
        """Definitions in the author's order, each composition's wrappers behind its function."""
        texts = [f"{alias} = {name}" for name, alias in self.names.aliases.items()]
        for definition in self.host.definitions:
            texts.append(self._definition(definition))
            for composition, public in zip(self.host.compositions, self.names.public, strict=True):
                if composition.function in definition.names:
                    texts += self._wrappers(composition, public)
        return texts

    @property
    def prepared(self) -> frozenset[str]:
        """Kernels whose arguments may be bound by a call of their own."""
        pieces = [piece for definition in self.host.definitions for piece in definition.text]
        values = {piece.kernel for piece in pieces if isinstance(piece, KernelValue)}
        return frozenset(
            values | {piece.kernel for piece in pieces if isinstance(piece, KernelFunction) and piece.form == "prepare"}
        )

    def summary(self) -> Iterator[str]:
        """For the module's docstring: each composition, and what it launches."""
        for composition, public in zip(self.host.compositions, self.names.public, strict=True):
            outputs = f" -> {', '.join(composition.outputs)}" if composition.outputs else ""
            used = ", ".join(self.kernels[kernel].public.all[0] for kernel in composition.kernels)
            yield ""
            yield f"{public.all[0]}({', '.join(each.name for each in composition.parameters)}){outputs}"
            yield f"    launches {used}; what they hand on stays on the device"

    def _definition(self, definition: Definition) -> str:
        text = self.text(definition.text)
        return laid_out(text) if definition.is_function else text

    # ------------------------------------------------------------------------------------------------------------ names
    def text(self, text: Text) -> str:
        return "".join(piece if isinstance(piece, str) else self._reference(piece) for piece in text)

    def _reference(self, reference: Reference) -> str:
        match reference:
            case KernelFunction(kernel=kernel, form="prepare"):
                return self.kernels[kernel].prepare
            case KernelFunction(kernel=kernel, form=form):
                return self._function(kernel, form == "run")
            case KernelValue(kernel=kernel):
                forms = (self._function(kernel, False), self._function(kernel, True), self.kernels[kernel].prepare)
                return f"_Artifact({', '.join(forms)})"
            case KernelParameter(kernel=kernel, name=name):
                names = self.kernels[kernel]
                return local(name, names) if name in names.launch.parameters else names.launch.sizes[name]
            case Defined(name=name):
                return self.names.private[name]

    def _function(self, kernel: str, allocates: bool) -> str:
        allocating, writing = self.kernels[kernel].device_functions
        name = allocating if allocates else writing
        return self.names.aliases.get(name, name)

    # --------------------------------------------------------------------------------------------------------- wrappers
    def _wrappers(self, composition: Composition, public: PublicNames) -> list[str]:
        pairs = (
            (public.host, "_host_composition", False),
            (public.host_out, "_host_composition", True),
            (public.device, "_device_composition", False),
            (public.device_out, "_device_composition", True),
        )
        return [self._wrapper(composition, name, target, out) for name, target, out in pairs if name is not None]

    def _wrapper(self, composition: Composition, name: str, target: str, out: bool) -> str:
        outputs = composition.outputs or () if out else ()
        head = call(f"def {name}(", self._signature(composition.parameters, outputs), "):")
        private = self.names.private[composition.function]
        arguments = [_passed(each) for each in composition.parameters if each.kind not in _BY_KEYWORD]
        items = [f"{private}()" if composition.built else private, _tuple(arguments)]
        items += [_tuple(outputs)] if outputs else []
        items += [_passed(each) for each in composition.parameters if each.kind in _BY_KEYWORD]
        result = "" if out or composition.outputs == () else "return "
        return "\n".join([head, _docstring(composition, target, out), call(f"{result}{target}(", items, indent=4)])

    def _signature(self, parameters: Sequence[Parameter], outputs: Sequence[str]) -> list[str]:
        """Arrays for results come behind the parameters that must be given."""
        before = [each for each in parameters if each.kind.startswith("positional") and each.default is None]
        rest = [each for each in parameters if each not in before]
        items = [each.name for each in before]
        if before and before[-1].kind == "positional only" and not outputs:
            items.append("/")
        items += outputs
        star = any(each.kind == "any number" for each in rest)
        for parameter in rest:
            if parameter.kind == "keyword only" and not star:
                items.append("*")
                star = True
            default = f"={self.text(parameter.default)}" if parameter.default is not None else ""
            items.append(_STARS.get(parameter.kind, "") + parameter.name + default)
        return items


_BY_KEYWORD = ("keyword only", "any keywords")
_STARS = {"any number": "*", "any keywords": "**"}


def _passed(parameter: Parameter) -> str:
    if parameter.kind == "keyword only":
        return f"{parameter.name}={parameter.name}"
    return _STARS.get(parameter.kind, "") + parameter.name


def _tuple(items: Sequence[str]) -> str:
    return f"({items[0]},)" if len(items) == 1 else f"({', '.join(items)})"


def _docstring(composition: Composition, target: str, out: bool) -> str:
    kind = "NumPy arrays" if target == "_host_composition" else "Device arrays (torch, CuPy)"
    outputs = ", ".join(composition.outputs or ())
    results = f"; {'writes' if out else 'returns'} {outputs}" if outputs else ""
    summary = (composition.docstring or "").strip().split("\n")[0].replace("\\", "\\\\").replace('"', "'")
    text = f"{kind}{results}. {summary}".strip()
    return f'    """{text if len(text) <= 106 else f"{kind}{results}."}"""'
