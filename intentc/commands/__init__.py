"""One module for each command. They are imported when they are invoked, never together."""
