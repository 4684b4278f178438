"""``python -m grader.protocol.confinement.launch ORDER COMMAND...``: give up what the order says, then become
the command.

For tools that work on foreign text where bubblewrap cannot be used.
"""

from __future__ import annotations

import json
import os
import sys

from grader.protocol.confinement.confine import confine


def main() -> None:
    """Confine this process and replace it."""
    confine(json.loads(sys.argv[1]))
    os.execvp(sys.argv[2], sys.argv[2:])  # noqa: S606 - the referee's command, as a list


if __name__ == "__main__":
    main()
