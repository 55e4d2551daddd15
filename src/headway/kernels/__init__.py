"""The modelled kernels of the suite."""

from headway.kernels.kernel import Kernel, Parameter
from headway.registry import Registry

REGISTRY = Registry[Kernel]("kernel", "headway.kernels", "KERNEL")
names = REGISTRY.names
load = REGISTRY.load

__all__ = ["REGISTRY", "Kernel", "Parameter", "load", "names"]
