"""The ALiBi bias adder (``docs/alibi.md``): scores in, scores with their bias out."""
