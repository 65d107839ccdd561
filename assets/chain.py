"""The chain of a release: from personal data to what may be published, stage by stage.

Read it from top to bottom. Each stage is an asset that takes the table of the stage above it. Each check
stands after the stage that it guards, and stops what follows if it fails. All tables but the last are
private and stay in the vault. The component makes the releases below `releases/` by the same list; a test
compares the two.

For a stage of your own, copy this file, and put a `defs.py` next to the policy of your release (ROOT is the
folder of your project):

    from anon_pipeline import load_policy
    from anon_pipeline.orchestration.component import build_release

    policy = load_policy(Path(__file__).parent / "policy.yaml")
    defs = build_release(policy, ROOT, chain(policy))

In the copy, put own stages (`own_stage`, from `anon_pipeline.orchestration.assets`) between `raw` and
`k_anonymized`:

    own_stage(policy, "own_top_coded", top_coded, meaning="Nobody is older than 90."),

where `top_coded` takes a table and returns it changed. To read the data in another way, write
`raw(policy, read=my_reader)`. The gate stays: it is part of `published`.
"""

from anon_pipeline.orchestration.assets import (
    deidentified,
    k_anonymized,
    perturbed,
    raw,
    shuffled,
    suppressed,
)
from anon_pipeline.orchestration.chain import Chain
from anon_pipeline.orchestration.checks import (
    check_declared,
    check_hierarchies,
    check_identifiers,
)
from anon_pipeline.orchestration.publish_asset import published
from anon_pipeline.policy import Policy

__all__ = ["chain"]


def chain(policy: Policy) -> Chain:
    """Return the stages of a release and their checks, in order."""
    return [
        # The personal data, with every column and type as the policy declares; each record gets a random id.
        raw(policy),
        check_declared(policy),
        # Identifiers are dropped, masked or hashed; the check looks for them in all other columns, too.
        deidentified(policy),
        check_identifiers(policy),
        # Quasi-identifiers are generalized until each class has at least k records.
        k_anonymized(policy),
        check_hierarchies(policy),
        # Perturb columns get noise; its ε is booked in the ledger before the noise is drawn.
        perturbed(policy),
        # The records are put into a uniformly random order.
        shuffled(policy),
        # Records that the noise would single out are suppressed.
        suppressed(policy),
        # The gate judges the table, then the bytes of the file; only what passes is published.
        published(policy),
    ]
