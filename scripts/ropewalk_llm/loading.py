"""A model in memory, in float32 on the CPU, with its tokeniser: from files only, without running code of theirs."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ropewalk.errors import InputError
from ropewalk.strict_json import show_path
from ropewalk_sim.engines.cache import cached

from .extra import torch_module, transformers_module
from .source import Source, digest_of


@dataclass(frozen=True, kw_only=True)
class Loaded:
    """A model and its tokeniser. ``model`` is in evaluation mode."""

    model: Any
    tokenizer: Any

    def tokens(self, text: str, *, special: bool = True) -> list[int]:
        """The token numbers of ``text``; with ``special`` those that its family puts around it too."""
        return list(self.tokenizer(text, add_special_tokens=special).input_ids)

    def prompt(self, text: str) -> list[int]:
        """The tokens of a prompt, of which there must be one; raises ``InputError``."""
        tokens = self.tokens(text)
        if not tokens:
            raise InputError("the model's tokeniser makes no token of the prompt")
        return tokens

    def text(self, tokens: list[int]) -> str:
        """The text of ``tokens``, without special ones."""
        return self.tokenizer.decode(tokens, skip_special_tokens=True)


def load(source: Source, *, encoder: bool = False) -> Loaded:
    """Load ``source``; an ``encoder`` without a head for tokens.

    A GGUF file is converted into a folder of the user's cache first, once: reading its vocabulary takes longer than all
    the rest.

    Raises
    ------
    InputError
        If transformers cannot make a model of the files.
    EngineError
        If the extra is not installed.
    """
    transformers = transformers_module()
    folder = _converted(source) if source.gguf else source.path
    auto = transformers.AutoModel if encoder else transformers.AutoModelForCausalLM
    model = _pretrained(auto, folder, source.name, dtype=torch_module().float32, use_safetensors=True)
    tokenizer = _pretrained(transformers.AutoTokenizer, folder, source.name)
    return Loaded(model=model.eval(), tokenizer=tokenizer)


def _pretrained(auto: Any, folder: Path, name: str, **options: Any) -> Any:
    try:
        return auto.from_pretrained(str(folder), local_files_only=True, trust_remote_code=False, **options)
    except (OSError, ValueError, KeyError, RuntimeError, ImportError, AttributeError, TypeError) as error:
        # transformers tells of bad files in any of these ways, often over many lines: the first says which
        first = (str(error).strip() or type(error).__name__).splitlines()[0][:400]
        raise InputError(f"transformers cannot load {show_path(name)}: {first}") from None


def _converted(source: Source) -> Path:
    """A folder with the model of a GGUF file as float32 safetensors, and its tokeniser."""
    transformers = transformers_module()

    def build(folder: Path) -> None:
        options = {"gguf_file": source.path.name}
        tokenizer = _pretrained(transformers.AutoTokenizer, source.path.parent, source.name, **options)
        tokenizer.save_pretrained(folder)
        model = _pretrained(
            transformers.AutoModelForCausalLM,
            source.path.parent,
            source.name,
            dtype=torch_module().float32,
            **options,
        )
        # By now the weights are plain numbers, and transformers refuses to write what it thinks is quantised.
        model.hf_quantizer = None
        if hasattr(model.config, "quantization_config"):
            del model.config.quantization_config
        model.save_pretrained(folder)

    parts = (digest_of(source.path), json.dumps([transformers.__version__, "float32"]))
    return cached("llm-model", parts, build)
