"""Measurements, not tests: the paper's figures on real data (`paper`) and the speed table (`speed`)."""
