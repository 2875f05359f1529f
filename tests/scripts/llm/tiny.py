"""Small randomly initialised models of each family, as transformers makes them. Needs the llm extra."""

import pytest

OPTIONAL = [
    pytest.mark.optional,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # of torch's and transformers' own making
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
]
"""The marks of tests that load such a model."""

PROMPT = "w1 w7 w3 w40 w11 w12 w5"
"""Words of the tokeniser that comes with them."""

FAMILIES = {
    "gemma": ("GemmaConfig", "GemmaForCausalLM", {}),
    "gemma2": ("Gemma2Config", "Gemma2ForCausalLM", {"sliding_window": 8}),
    "gemma3_text": (
        "Gemma3TextConfig",
        "Gemma3ForCausalLM",
        {
            "sliding_window": 8,
            "layer_types": ["sliding_attention", "full_attention", "sliding_attention"],
            "rope_parameters": {
                "sliding_attention": {"rope_type": "default", "rope_theta": 100.0},
                "full_attention": {"rope_type": "default", "rope_theta": 5000.0},
            },
        },
    ),
    "llama": ("LlamaConfig", "LlamaForCausalLM", {}),
    "llama-yarn": (
        "LlamaConfig",
        "LlamaForCausalLM",
        {
            "rope_parameters": {
                "rope_type": "yarn",
                "rope_theta": 10000.0,
                "factor": 4.0,
                "original_max_position_embeddings": 64,
            }
        },
    ),
    "llama-llama3": (
        "LlamaConfig",
        "LlamaForCausalLM",
        {
            "rope_parameters": {
                "rope_type": "llama3",
                "rope_theta": 10000.0,
                "factor": 8.0,
                "low_freq_factor": 1.0,
                "high_freq_factor": 4.0,
                "original_max_position_embeddings": 64,
            }
        },
    ),
    "mistral": ("MistralConfig", "MistralForCausalLM", {"sliding_window": 8}),
    "ministral": ("MinistralConfig", "MinistralForCausalLM", {"sliding_window": 8}),
    "ministral3": ("Ministral3Config", "Ministral3ForCausalLM", {}),
    "mixtral": ("MixtralConfig", "MixtralForCausalLM", {"num_local_experts": 2, "sliding_window": None}),
    "qwen2": ("Qwen2Config", "Qwen2ForCausalLM", {}),
    "qwen2_moe": (
        "Qwen2MoeConfig",
        "Qwen2MoeForCausalLM",
        {
            "num_experts": 2,
            "num_experts_per_tok": 1,
            "moe_intermediate_size": 16,
            "shared_expert_intermediate_size": 16,
        },
    ),
    "qwen3": ("Qwen3Config", "Qwen3ForCausalLM", {}),
    "qwen3_moe": (
        "Qwen3MoeConfig",
        "Qwen3MoeForCausalLM",
        {"num_experts": 2, "num_experts_per_tok": 1, "moe_intermediate_size": 16},
    ),
}
"""Classes of transformers, and what they are told beside :data:`SIZES`."""

SIZES = {
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 16,
    "num_hidden_layers": 3,
    "max_position_embeddings": 128,
    "vocab_size": 60,
    "initializer_range": 0.4,  # large, so that attention has something to say
    "bos_token_id": 1,
    "eos_token_id": 2,
    "pad_token_id": 0,
}

WORDS = ["<pad>", "<s>", "</s>", "<unk>", *(f"w{number}" for number in range(44)), "w", "\u0120", *"0123456789"]
"""The last ones are for Qwen2's tokeniser, which transformers puts in the place of any other and which spells words."""


def write_tokenizer(folder):
    """A tokeniser of 44 words."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    made = Tokenizer(models.WordLevel({word: place for place, word in enumerate(WORDS)}, unk_token="<unk>"))
    made.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    PreTrainedTokenizerFast(
        tokenizer_object=made, bos_token="<s>", eos_token="</s>", pad_token="<pad>", unk_token="<unk>"
    ).save_pretrained(folder)


def write_model(folder, family, seed=1):
    """A model of ``family`` in ``folder``; its configuration."""
    import torch
    import transformers

    config_name, model_name, more = FAMILIES[family]
    torch.manual_seed(seed)
    config = getattr(transformers, config_name)(**(SIZES | more))
    getattr(transformers, model_name)(config).save_pretrained(folder)
    write_tokenizer(folder)
    return config
