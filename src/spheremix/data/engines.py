"""The engines by name; that of torch is loaded where it is asked for."""

from __future__ import annotations

from typing import Any, get_args

from spheremix import _optional
from spheremix.data.base import Engine
from spheremix.data.compiled import CompiledDirections
from spheremix.data.reference import ReferenceDirections


def engine_class(engine: Engine) -> Any:
    """Return the class of an engine by its name."""
    if engine not in get_args(Engine):
        raise ValueError(f"engine must be one of {', '.join(get_args(Engine))}, got {engine!r}.")
    if engine == "reference":
        return ReferenceDirections
    if engine == "torch":
        return torch_engine().TorchDirections
    if _optional.kernels is None and engine == "auto":
        _optional.say_once()
        return ReferenceDirections
    if _optional.kernels is None:
        raise ImportError(
            f"engine='compiled' needs the extension spheremix._kernels: {_optional.absence}, or "
            "use engine='reference'."
        )
    return CompiledDirections


def torch_engine() -> Any:
    """Return the module of torch's engine, or say what it needs."""
    try:
        from spheremix.data import torch_gpu  # noqa: PLC0415
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        raise ImportError(
            "engine='torch' needs PyTorch, which is not installed: pip install 'spheremix[torch]'."
        ) from None
    return torch_gpu
