#!/usr/bin/python3
# SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB)
"""run_pyverbs.py DEVICE: run rdma-core's own Python tests, as they are installed,
and print a line for each: "= OUTCOME NAME REASON", OUTCOME being ok, skipped,
failed, crashed (the interpreter) or hung.

The tests run in one child process, whose death costs one test: another child
goes on with those after it."""
import gc
import os
import select
import subprocess
import sys
import time
import unittest
from importlib.machinery import SourceFileLoader

FOLDER = '/usr/lib/pyverbs/tests'
SECONDS = 90        # for one test


def load(device):
    """All tests, in the order of their own runner."""
    sys.argv = ['run_tests.py', '--dev', device, '--port', '1']
    sys.path.insert(0, FOLDER)
    from args_parser import parser
    package = SourceFileLoader('tests', FOLDER + '/__init__.py').load_module()
    parser.parse_args()
    pending, tests = [unittest.defaultTestLoader.loadTestsFromModule(package)], []
    while pending:
        item = pending.pop(0)
        if isinstance(item, unittest.TestSuite):
            pending[:0] = list(item)
        else:
            tests.append(item)
    return tests


class Reporter(unittest.TestResult):
    """Prints outcomes."""

    def __init__(self):
        super().__init__()
        self.outcome = None

    def startTest(self, test):
        super().startTest(test)
        self.outcome = 'ok', ''
        print('> ' + test.id(), flush=True)

    def stopTest(self, test):
        super().stopTest(test)
        outcome, reason = self.outcome
        print('= %s %s %s' % (outcome, test.id(), ' '.join(reason.split())), flush=True)

    def addSkip(self, test, reason):
        self.outcome = 'skipped', reason

    def addError(self, test, err):
        print(self._exc_info_to_string(err, test), flush=True)
        self.outcome = 'failed', '%s: %s' % (err[0].__name__, err[1])

    addFailure = addError

    def addSubTest(self, test, subtest, err):
        if err:
            self.addError(test, err)


def child(device, first):
    """Run the tests from number `first` on."""
    # A skipped test leaves its verbs objects in reference cycles. The collector
    # destroys them in any order, and pyverbs calls what a parent domain's freed
    # Python object was: that must not be the end of another test.
    gc.disable()
    reporter = Reporter()
    for test in load(device)[first:]:
        test(reporter)
    # Destructors of what tests left behind may fail; nothing depends on them.
    os._exit(0)


def watch(process, done):
    """Pass on what the child prints; the name of the test in which it ended."""
    name, end, buffer = None, time.monotonic() + SECONDS, b''
    while True:
        left = end - time.monotonic()
        if left < 0 or not select.select([process.stdout], [], [], left)[0]:
            process.kill()
            process.wait()
            return name, 'hung'
        data = os.read(process.stdout.fileno(), 65536)
        if not data:
            return name, 'crashed' if process.wait() else 'ended'
        *lines, buffer = (buffer + data).split(b'\n')
        for line in lines:
            text = line.decode('utf-8', 'replace')
            if text.startswith('> '):
                name, end = text[2:], time.monotonic() + SECONDS
            elif text.startswith('= '):
                name, end = None, time.monotonic() + SECONDS
                done.append(text)
            print(text, flush=True)


def main():
    """Run children until every test has an outcome."""
    device = sys.argv[1]
    if len(sys.argv) > 2:
        child(device, int(sys.argv[2]))
    done = []
    while True:
        with subprocess.Popen([sys.executable, __file__, device, str(len(done))],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              cwd=os.path.dirname(FOLDER)) as process:
            name, how = watch(process, done)
        if how == 'ended':
            return
        if name is None:
            sys.exit('run_pyverbs: the tests %s between two tests' % how)
        done.append(name)
        print('= %s %s' % (how, name), flush=True)


if __name__ == '__main__':
    main()
