"""Random questions to recoders, as the recoders' own tests draw them."""

from tests.recode.conftest import drawn, from_rows

__all__ = ["drawn", "from_rows"]
