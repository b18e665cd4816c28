"""Reading Triton: text to effects, by symbolic execution; nothing is imported or executed."""
