"""``ropewalk llm``: a real model whose positional encoding is computed by an engine, and what that does to it.

| module | what it does |
|---|---|
| ``extra`` | torch and transformers, which are imported only when a model is loaded |
| ``source``, ``loading`` | from MODEL to a folder, and from there to a model in memory |
| ``families`` | which models are supported, and the refusal of others |
| ``design`` | the engine of a model, generated once and kept |
| ``rotation`` | q and k quantised, rotated by the engine, and given back: numbers only, no torch |
| ``hooks`` | the model's own rotation replaced by that one |
| ``learned``, ``alibi`` | the same for models of these schemes |
| ``decode``, ``metrics``, ``text`` | generating, divergence, perplexity |
| ``sweep``, ``shift`` | what widths cost and give; far positions |

Nothing here opens a connection, runs a model's own code, or reads a pickle.
"""
