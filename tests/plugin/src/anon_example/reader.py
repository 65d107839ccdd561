"""A format of files: a JSON object for each record, a line each."""

import pandas as pd

from anon_pipeline.base.errors import withhold_text
from anon_pipeline.base.size_bounds import open_readable


def json_lines_frame(path, options, limits, numbers):
    """Read a file of at most so many bytes; errors do not quote it."""
    with withhold_text("source.path: the file must hold a JSON object in each line", ValueError, OSError):
        with open_readable(path) as file:
            data = file.read(limits.file_bytes + 1)
        if len(data) > limits.file_bytes:
            raise ValueError
        return pd.read_json(pd.io.common.BytesIO(data), lines=True)
