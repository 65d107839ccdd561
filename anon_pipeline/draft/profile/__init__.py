"""A table before there is a policy: how it is written, what its columns hold, which role fits each.

Belongs here: looking at a table and proposing. Does not belong here: writing a policy (`draft`). Nothing that
this room returns holds a value of the data, but for the tables of hierarchies, which are private and say so.
"""
