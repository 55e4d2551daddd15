"""What commands exit with if they do not return 0; argparse uses 2 for a wrong usage."""

INVALID = 1
CHECK_FAILED = 3
INTERRUPTED = 130  # as shells report a program that was ended by Ctrl-C
