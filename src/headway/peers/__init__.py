"""Other compilers' synchronization, imported so that it is judged and simulated like our own.

`bisheng` runs the passes of AscendNPU-IR, which place tokens: `export` writes a program in their
input language, `hivm` reads and replays what they print, `replay` makes a synchronized program of
that. Their package is the extra `peers`; nothing of it is in this one.
"""
