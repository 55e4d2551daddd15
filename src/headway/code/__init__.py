"""Flat code: programs as rows of integers, for loops that are compiled. It judges nothing.

`headway.sim` and `headway.check` lower programs to it, each with rows of its own.
"""
