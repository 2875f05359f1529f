"""The language part of multimodal models: ``text_config``, and what it leaves out."""

from collections.abc import Mapping

TEXT_PARTS: Mapping[str, str] = {
    "aria": "aria_text",
    "cohere2_vision": "cohere2",
    "emu3": "emu3_text_model",
    "ernie4_5_vl_moe": "ernie4_5_vl_moe_text",
    "gemma3": "gemma3_text",
    "gemma3n": "gemma3n_text",
    "gemma4": "gemma4_text",
    "gemma4_unified": "gemma4_unified_text",
    "glm4v": "glm4v_text",
    "glm4v_moe": "glm4v_moe_text",
    "glm_image": "glm_image_text",
    "glm_ocr": "glm_ocr_text",
    "kimi_k25": "kimi_k2",
    "llama4": "llama4_text",
    "llava": "llama",
    "mllama": "mllama_text_model",
    "mistral3": "mistral",
    "paligemma": "gemma",
    "qwen2_5_vl": "qwen2_5_vl_text",
    "qwen2_vl": "qwen2_vl_text",
    "qwen3_5": "qwen3_5_text",
    "qwen3_5_moe": "qwen3_5_moe_text",
    "qwen3_vl": "qwen3_vl_text",
    "qwen3_vl_moe": "qwen3_vl_moe_text",
}
"""The ``model_type`` of a multimodal model's ``text_config`` where that does not say."""

TEXT_DEFAULTS: Mapping[str, Mapping[str, int]] = {
    "llama": {"hidden_size": 4096, "num_attention_heads": 32, "num_hidden_layers": 32},
    "mistral": {"hidden_size": 4096, "num_attention_heads": 32, "num_hidden_layers": 32},
}
"""Class defaults that published ``text_config`` objects leave out (LLaVA's), and files of their own never do."""
