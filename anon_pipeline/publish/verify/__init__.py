"""Verifying a release that lies somewhere: its manifest, files, policy, numbers and signature."""
