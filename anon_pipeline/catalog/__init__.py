"""Tables of kinds that a policy chooses from: one record for each, with all that others need to know of it.

A record names its implementation as ``module:function``, which is imported when it is first used: so that the
policy, at the bottom of the house, and the algorithms, higher up, read the same table.
"""
