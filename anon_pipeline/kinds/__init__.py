"""Releases of several kinds, made of the same table, with the same measures and attackers.

Belongs here: what makes releases of different kinds comparable. Does not belong here: how each is made.
"""
