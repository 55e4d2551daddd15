"""NKI kernels as input, traced without any of the vendor's software."""
