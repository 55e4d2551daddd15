"""Certificates: proofs for all inputs as plain data, and the small program that checks them."""

from headway.certify.attempt import Attempt, certify
from headway.certify.certificate import Certificate, from_json
from headway.certify.statement import Gap
from headway.certify.transcribe import verify

__all__ = ["Attempt", "Certificate", "Gap", "certify", "from_json", "verify"]
