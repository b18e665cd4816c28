"""Launching a device function that is compiled already, with as little as possible between the caller and the GPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from intent.host.loading import Recorded
from intent.records import dataclass


@dataclass(frozen=True, slots=True)
class CompiledLaunch:
    """A function compiled for one device, called without choosing among its specialisations again."""

    runner: Callable[..., None]
    device: int
    current_device: Callable[[], int]
    current_stream: Callable[[int], int]
    takes_addresses: bool = True

    def __call__(self, arguments: list[Any]) -> None:
        if self.current_device() == self.device:
            self.runner(*arguments, stream=self.current_stream(self.device))
            return
        import torch

        with torch.cuda.device(self.device):
            self.runner(*arguments, stream=self.current_stream(self.device))


@dataclass(frozen=True, slots=True)
class OrdinaryLaunch:
    """A launch through Triton's own front: in the interpreter, and where what was compiled cannot be held on to."""

    kernel: Any
    programs: int
    options: dict[str, Any]
    count: int  # of the arguments that are no options
    takes_addresses: bool = False

    def __call__(self, arguments: list[Any]) -> None:
        self.kernel[(self.programs,)](*arguments[: self.count], **self.options)


Launch = CompiledLaunch | OrdinaryLaunch


def direct_launch(launched: Recorded, arguments: list[Any]) -> Launch:
    """The quickest way to repeat a launch, given all arguments of the device function, constexprs included."""
    from triton.compiler import CompiledKernel
    from triton.runtime import driver

    # Nothing is compiled anew: the very same launch has just been made.
    compiled = launched.kernel.warmup(*launched.arguments, grid=(launched.programs,), **launched.options)
    if hasattr(compiled, "result"):  # compiled in the background
        compiled = compiled.result()
    if not isinstance(compiled, CompiledKernel):
        return OrdinaryLaunch(launched.kernel, launched.programs, launched.options, len(launched.arguments))
    device = next(value.get_device() for value in arguments if hasattr(value, "get_device"))
    runner = compiled[(launched.programs, 1, 1)]
    return CompiledLaunch(runner, device, driver.active.get_current_device, driver.active.get_current_stream)
