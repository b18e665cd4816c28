"""Device functions that generated modules carry along. Their text is read, never imported, by the compiler."""
