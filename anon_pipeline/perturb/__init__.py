"""Noise per equivalence class: exact samplers, scales, budget split. Nothing is imported here.
Decisions: docs/adr/0038-noise-by-record.md.
"""
