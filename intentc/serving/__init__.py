"""Answers on program text for clients that keep a process: models that speak MCP, and editors."""
