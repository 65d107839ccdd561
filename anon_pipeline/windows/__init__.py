"""Windows of a stream: which records go with a partition, and which wait for those of later ones.

Belongs here: what is decided before the stages of a release begin. Does not belong here: the stages.
"""
