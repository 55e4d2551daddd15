"""What `scripts/proof` does, without a Lean toolchain."""
