"""Tables of kinds that a policy chooses from: one entry for each, with all that others need to know of it.

An entry names its implementation as ``module:function``, which is imported when it is first used. So the
policy can read the same table as the algorithms, although it must not import them.
Decisions: docs/adr/0040-kinds-are-entries.md.
"""
