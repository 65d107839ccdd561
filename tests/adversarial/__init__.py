"""Crashes, leaks, hostile input and forged manifests: the harness that looks for each, and its tests.

The harness runs alone, too: ``python -m tests.adversarial.reliability`` prints docs/reliability.md.
"""
