"""`python -m tui`: the command `batchlab`, from a checkout that nobody has installed."""

from __future__ import annotations

from tui.cli import main

if __name__ == "__main__":
    main()
