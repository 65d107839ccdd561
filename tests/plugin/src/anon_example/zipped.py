"""A kind of place: a file in a ZIP archive, of any format that the policy names."""

import zipfile

from anon_pipeline.base.errors import withhold_text
from anon_pipeline.base.size_bounds import Held, limit_error
from anon_pipeline.policy.locations import plain_partition
from anon_pipeline.sources.formats import read_file

_WHERE = "source.zipped"


def zipped_frame(policy, folder, partition):
    """Read the member of the archive; errors quote neither of them."""
    source, place = policy.source, policy.source.place
    member = place.member
    if partition is not None:
        member = member.replace("{partition}", plain_partition(partition))
    kinds = (zipfile.BadZipFile, KeyError, OSError, RuntimeError, NotImplementedError)
    with (
        withhold_text(f"{_WHERE}: there must be an archive with this member", *kinds),
        zipfile.ZipFile(folder / place.file) as archive,
        archive.open(member) as file,
    ):
        data = file.read(source.limits.uncompressed_bytes + 1)
    if len(data) > source.limits.uncompressed_bytes:
        raise limit_error(_WHERE, "uncompressed_bytes", source.limits.uncompressed_bytes)
    return read_file(source.format, Held(_WHERE, data), source.options, source.limits, policy.numeric)
