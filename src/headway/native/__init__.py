"""Run a binary as a C program with real threads. See docs/isa.md."""
