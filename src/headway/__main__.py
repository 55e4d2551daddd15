"""Run `python -m headway`."""

import sys

from headway.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
