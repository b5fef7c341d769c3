# SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB)
"""Cases of a script that runs in a guest: registered with @case, run by main(),
which prints "ok CASE" or "FAILED CASE: why" for each."""
import sys
import traceback

CASES = {}


def case(function):
    """Register a case, a function of the device's name."""
    CASES[function.__name__] = function
    return function


def main():
    """SCRIPT DEVICE [CASE...]: run the cases and end with whether all were right."""
    device, names = sys.argv[1], sys.argv[2:] or list(CASES)
    failed = 0
    for name in names:
        try:
            CASES[name](device)
            print('ok', name, flush=True)
        except Exception as error:          # whatever it is, it is the result
            failed += 1
            frame = traceback.extract_tb(error.__traceback__)[1]
            print('FAILED %s: %s %s (line %d: %s)' % (
                name, type(error).__name__, error, frame.lineno, frame.line), flush=True)
    sys.exit(1 if failed else 0)
