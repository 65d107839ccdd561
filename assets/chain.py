"""The chain of a release: from personal data to what may be published, stage by stage.

Read it from top to bottom. Each stage is an asset that takes the table of the stage above it. Each check
stands behind the stage that it guards, and stops what follows if it fails. All tables but the last are
private and stay in the vault. The component makes the releases below `releases/` by the same list; a test
holds both equal.

For a stage of your own, copy this file, and put a `defs.py` beside the policy of your release:

    policy = load_policy(Path(__file__).parent / "policy.yaml")
    defs = build_release(policy, ROOT, chain(policy))

(`build_release` is in `anon_pipeline.orchestration.component`). Between `raw` and `k_anonymized` you may put

    own_stage(policy, "own_top_coded", top_coded, meaning="Nobody is older than 90."),

where `top_coded` takes a table and returns it changed. To read the data in another way, write
`raw(policy, read=my_reader)`. The gate stays: a chain without it is refused, and `published` judges itself.
"""

from anon_pipeline.orchestration.assets import (
    deidentified,
    k_anonymized,
    perturbed,
    published,
    raw,
    shuffled,
    suppressed,
)
from anon_pipeline.orchestration.chain import Chain
from anon_pipeline.orchestration.checks import (
    check_declared,
    check_gate,
    check_hierarchies,
    check_identifiers,
)
from anon_pipeline.policy import Policy

__all__ = ["chain"]


def chain(policy: Policy) -> Chain:
    """Return the stages of a release and their checks, in order."""
    return [
        # The personal data, with every column and type as the policy declares; each record gets a random id.
        raw(policy),
        check_declared(policy),
        # Names, numbers and addresses are dropped, masked or hashed, and none is left in a text.
        deidentified(policy),
        check_identifiers(policy),
        # Quasi-identifiers become coarser until at least k records look alike.
        k_anonymized(policy),
        check_hierarchies(policy),
        # Measurements get noise; its ε is booked in the ledger before it is drawn.
        perturbed(policy),
        # The order of the records says nothing any more.
        shuffled(policy),
        # Records that still stand out are left out; then the gate judges the table, a check for each limit.
        suppressed(policy),
        check_gate(policy),
        # The gate judges the very bytes once more; only what passes is written, with manifest and report.
        published(policy),
    ]
