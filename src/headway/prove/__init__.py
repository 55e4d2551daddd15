"""Proofs about synchronized programs that hold for all inputs."""

from headway.prove.prover import Proof, prove
from headway.prove.verify import Gap

__all__ = ["Gap", "Proof", "prove"]
