"""Front ends: other people's programs as sequential programs of Headway."""

from headway.frontends.nki.arguments import ArgSpec
from headway.frontends.nki.tracing import Trace, kernels, record, trace

__all__ = ["ArgSpec", "Trace", "kernels", "record", "trace"]
