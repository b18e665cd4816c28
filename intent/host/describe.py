"""What callers need of a compilation, as plain data."""

from __future__ import annotations

from pathlib import Path

from intent.host.cache import digest
from intent.host.interface import Extent, Interface, ModuleFunctions, Parameter
from intent.host.translation import TranslatedKernel, Translation
from translators.algebra.polynomial import Polynomial, Symbol
from translators.logical.program import Kernel, Program, ScalarParameter
from translators.logical.show import show_kernel
from translators.logical.types import View
from translators.pipeline import Compilation
from translators.triton_source.module_kernels import dtype_name
from translators.triton_source.module_names import KernelNames


def describe(compilation: Compilation) -> Translation:
    """A compilation that was not rejected."""
    assert compilation.source is not None and compilation.program is not None
    kernels = {
        code.kernel.name: TranslatedKernel(interface(code.kernel), _functions(each), show_kernel(code.kernel))
        for code, each in zip(compilation.codes, compilation.names, strict=True)
    }
    return Translation(compilation.source, kernels, compilation.diagnostics, _imported(compilation.program))


def interface(kernel: Kernel) -> Interface:
    """The kernel's signature."""
    parameters = tuple(_parameter(parameter) for parameter in kernel.parameters)
    return Interface(kernel.name, parameters, tuple((constant.name, constant.value) for constant in kernel.constants))


def _parameter(parameter: View | ScalarParameter) -> Parameter:
    element = dtype_name(parameter.dtype)
    if isinstance(parameter, ScalarParameter):
        return Parameter(parameter.name, "scalar", parameter.dtype.name, element)
    return Parameter(
        parameter.name,
        parameter.direction,
        parameter.dtype.name,
        element,
        tuple(_extent(extent) for extent in parameter.shape),
        parameter.strides or (),
        parameter.alias,
        parameter.noalias,
    )


def _extent(extent: Polynomial) -> Extent:
    atom = extent.atom
    return atom.name if isinstance(atom, Symbol) else extent.offset


def _functions(names: KernelNames) -> ModuleFunctions:
    public = names.public
    assert public.host and public.host_out and public.device and public.device_out
    return ModuleFunctions(public.host, public.host_out, public.device, public.device_out, names.launch.sizes)


def _imported(program: Program) -> dict[str, str | None]:
    """Digests of the imported files. A package `x` is preferred to a module `x.py`, so its absence counts too."""
    found = {path: digest(content) for path, content in program.imported.items()}
    modules = [Path(path) for path in program.imported if Path(path).name != "__init__.py"]
    return {**found, **{str(module.with_suffix("") / "__init__.py"): None for module in modules}}
