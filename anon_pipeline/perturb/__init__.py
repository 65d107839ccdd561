"""Noise per equivalence class: exact samplers, scales, budget split. Nothing is imported here."""
