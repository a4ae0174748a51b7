"""``python -m voile``."""

from voile.cli import main

main()
