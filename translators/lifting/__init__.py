"""From the effects of a Triton kernel to what it means: sinks over domains, with a proof note for every step."""
