"""Synchronize programs for multi-engine accelerators without barriers."""
