"""Proofs about synchronized programs that hold for all inputs, and certificates of them."""

from headway.prove.certificate import Certificate
from headway.prove.prover import Proof, prove
from headway.prove.verify import Gap, verify

__all__ = ["Certificate", "Gap", "Proof", "prove", "verify"]
