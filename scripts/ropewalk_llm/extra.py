"""torch and transformers, from the extra ``llm``: imported when a model is loaded, and never connected to anything."""

import importlib
import os
from typing import Any

from ropewalk_sim.errors import EngineError

SWITCHES = {
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "TQDM_DISABLE": "1",
}
"""What keeps the Hugging Face libraries from the network, and silent. They look at these when they are imported."""

MISSING = "the llm extra is not installed: scripts/setup --llm installs it"


def torch_module() -> Any:
    """The module ``torch``; raises ``EngineError`` where it is not installed."""
    return _torch()


def transformers_module() -> Any:
    """The module ``transformers``, silent and offline; raises ``EngineError`` where it is not installed."""
    os.environ.update(SWITCHES)
    _torch()
    transformers = _module("transformers")
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    return transformers


def _torch() -> Any:
    # Threads that spin while they wait for each other take four times the processor time where a core is shared.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    return _module("torch")


def _module(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        raise EngineError(f"{MISSING} ({name} is missing)") from None
