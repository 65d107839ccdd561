"""How the noise of a release comes by its key: the draw is found, or sealed, then booked, then used.

The order is: the key is sealed in the vault, then its ε is booked in the ledger, then noise is made with it.
A crash between the first two leaves a key that the ledger does not know. It may as well be one that another
ledger has booked, so a run does not destroy it. In an encrypted vault it can only be ours: if its binding is
the same, it is booked here and used, the same noise for the same ε. In a plain vault it may have been put
there by somebody who knows it: it is not used, and destroyed once its place is published.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from fractions import Fraction

from anon_pipeline.base.errors import InputError, private_stage
from anon_pipeline.ledger import Asked
from anon_pipeline.perturb.entropy import Entropy, system_entropy
from anon_pipeline.perturb.keys import NoiseKey, fresh_key
from anon_pipeline.publish.accounting.booking import Booking
from anon_pipeline.publish.draws.draw_keys import Draw, Draws
from anon_pipeline.publish.post_rename_errors import NOT_AGAIN
from anon_pipeline.stages.private import Drawn


def binding_of(asked: Asked, noise_input: str) -> str:
    """Return the digest of what a draw may be used for: the whole input and policy, and what is booked.

    Args:
        asked: what the release enters into the ledger, with the ε that it spends.
    """
    said = {
        "input": noise_input,
        "policy": asked.policy_digest,
        "dataset": asked.dataset,
        "release": asked.release,
        "partition": asked.partition,
        "epsilon": asked.epsilon,
    }
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()


def take(
    booked: Booking, draws: Draws, epsilon: Fraction, noise_input: str, *, key: Callable[[], NoiseKey]
) -> Drawn:
    """Return the draw of an input: the one that there is, for nothing, or a new one, which is booked.

    Args:
        booked: the release and its ledger.
        epsilon: that the release spends.
        noise_input: digest of all that noise is added to.
        key: makes a fresh one.
    Raises:
        GateRefused: beyond the budget; no key is left.
        InputError: vault or ledger cannot be written, or what is there is not what was written.
    """
    asked = booked.request_for(epsilon)
    binding = binding_of(asked, noise_input)
    booked.find()
    with draws.alone():
        draws.clear_unfinished()
        _clear_up(booked, draws)
        found = draws.draws_with(binding)
        draw = next((draw for draw in found if booked.again(draw.id, asked, draw.commitment)), None)
        if draw is None and draws.sealed:
            draw = next((draw for draw in found if booked.is_unknown(draw.id)), None)
            if draw is not None:
                booked.book(draw.id, asked, draw.commitment)
        if draw is None:
            draw = _fresh(booked, draws, Draw(secrets.token_hex(16), binding, key()), asked)
    return Drawn(draw.key, booked.id_of(draw.id))


def _fresh(booked: Booking, draws: Draws, draw: Draw, asked: Asked) -> Draw:
    """Seal a new key and book it; destroy it if it cannot be booked."""
    draws.seal(draw)
    try:
        booked.book(draw.id, asked, draw.commitment)
    except BaseException:
        with suppress(InputError):  # a ledger that does not answer may have it booked: the key is left
            if booked.is_unknown(draw.id):
                draws.destroy_if_possible(draw)
        raise
    return draw


def _clear_up(booked: Booking, draws: Draws) -> None:
    """Destroy what must not be used again: what this ledger has as published or given up."""
    ids = draws.ids()
    over = booked.over(ids.values())
    draws.destroy(name for name, release_id in ids.items() if release_id in over)


@dataclass(slots=True, eq=False)
class Opening:
    """A release whose draw is taken when its turn comes, and that is marked as failed if its stages fail.

    booked: the release and its ledger.
    draws: where keys are kept.
    entropy: where fresh ones come from.
    keeps: whether a draw is kept for retries also where no ε is spent.
    """

    booked: Booking
    draws: Draws
    entropy: Entropy = field(default_factory=system_entropy)
    keeps: bool = False
    release_id: str | None = None

    def __call__(self, epsilon: Fraction, noise_input: str) -> Drawn:
        """Take the draw, see `take`; a policy without noise has none, and is only opened in the ledger."""

        def key() -> NoiseKey:
            return fresh_key(self.entropy)

        with private_stage("draw"):
            if self.booked.noisy or self.keeps:
                drawn = take(self.booked, self.draws, epsilon, noise_input, key=key)
            else:
                drawn = Drawn(key(), self.booked.open())
            self.release_id = drawn.release_id
        return drawn

    @contextmanager
    def fail_on_error(self) -> Iterator[None]:
        """Mark the release as failed if this work ends after it was opened and before its writing began."""
        try:
            yield
        except BaseException:
            self.booked.enter_failed(self.release_id)
            raise


def forget_published(draws: Draws | None) -> None:
    """Destroy the keys of a release that is published now.

    Raises:
        InputError: they cannot be removed; the next run does so before it draws.
    """
    if draws is None:
        return
    try:
        if draws.any():
            with draws.alone():
                draws.destroy()
        return
    except InputError as error:
        problem = str(error)
    raise InputError(
        f"the release is published, its next run destroys the key of its noise: {problem} {NOT_AGAIN}"
    )
