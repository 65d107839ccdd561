"""Tables of kinds that a policy chooses from: one entry for each, with all that others need to know of it.

An entry names its implementation as ``module:function``, which is imported when it is first used: so that the
policy, at the bottom of the house, and the algorithms, higher up, read the same table.
"""
