"""Numbers that know where they come from."""

from __future__ import annotations


class Figure(float):
    """A measure with its public source, or with the word "assumed" and the reason."""

    __slots__ = ("source",)
    source: str

    def __new__(cls, value: float, source: str) -> Figure:
        figure = super().__new__(cls, value)
        figure.source = source
        return figure

    def __reduce__(self) -> tuple[type[Figure], tuple[float, str]]:
        return Figure, (float(self), self.source)


class Count(int):
    """A whole number with its public source, or with the word "assumed" and the reason."""

    source: str

    def __new__(cls, value: int, source: str) -> Count:
        count = super().__new__(cls, value)
        count.source = source
        return count

    def __reduce__(self) -> tuple[type[Count], tuple[int, str]]:
        return Count, (int(self), self.source)
