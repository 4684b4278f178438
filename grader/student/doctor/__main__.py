"""``python -m grader.student.doctor``: for a Python that may be too old for everything else, so its syntax is
old."""

import sys


def main() -> int:
    """Examine this machine; 0 if the course runs here."""
    if sys.version_info < (3, 11):  # noqa: UP036 - the one place that must refuse an older one
        version = "%d.%d" % sys.version_info[:2]  # noqa: UP031 - this must run on what it refuses
        print("no  Python          " + version + " is too old: 3.11 or newer is needed")
        print("                    try: sudo apt-get install python3 python3-venv, or python.org/downloads")
        return 1
    from grader.student.doctor.doctor_report import run

    return run()


if __name__ == "__main__":
    sys.exit(main())
