"""What the keeper becomes once PID 1 runs: `python waiter.py SESSION-FOLDER PID`.

It is the same process, with the same lock and the same child; a fresh Python that has imported nothing is a sixth
of the one that made the sandbox. Owns the wait for PID 1; what is removed then is said in `remains`.
"""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType


def main() -> None:
    """Pass TERM on, wait, clean up. The lock goes with the process: who waits for it may count on nothing left."""
    init = int(sys.argv[2])

    def end(_number: int, _frame: FrameType | None) -> None:
        os.kill(init, signal.SIGTERM)

    signal.signal(signal.SIGTERM, end)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})  # the keeper held it back until now
    _pid, status = os.waitpid(init, 0)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    from pathlib import Path  # only now: this process lives as long as the session

    from cluster.machine import Layout
    from cluster.sandbox.remains import clean

    clean(Layout(Path(sys.argv[1])))
    os._exit(os.waitstatus_to_exitcode(status) != 0)


if __name__ == "__main__":
    main()
