"""(k, ε)-anonymity as a gated pipeline: a policy and personal data in, a release that is safe to publish out."""
