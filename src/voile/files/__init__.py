"""What every room needs of files: what may be said of them, who may read them."""

from voile.files.column_names import no_such_column
from voile.files.modes import (
    add_line,
    like_source,
    make_private_folder,
    open_private,
    probe_folder,
    write_private,
)
from voile.files.regular import require_regular

__all__ = [
    "add_line",
    "like_source",
    "make_private_folder",
    "no_such_column",
    "open_private",
    "probe_folder",
    "require_regular",
    "write_private",
]
