"""What the language, the host interface, the diagnostics and the documentation say, found by name or by words."""
