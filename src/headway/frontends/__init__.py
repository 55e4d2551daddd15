"""Front ends: other people's programs as sequential programs of Headway."""

from headway.frontends.frontend import REGISTRY, FrontEnd, front_end_of
from headway.frontends.nki.arguments import ArgSpec
from headway.frontends.nki.tracing import Trace, kernels, record, trace

__all__ = ["REGISTRY", "ArgSpec", "FrontEnd", "Trace", "front_end_of", "kernels", "record", "trace"]
