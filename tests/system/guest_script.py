# SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB)
"""Scripts of tests/system/guest that are many cases: run once, each case a test."""
import os
import re

GUEST = os.path.join(os.path.dirname(os.path.realpath(__file__)), 'guest')
CASE = re.compile(r'^@case\ndef (\w+)\(', re.M)
RESULT = re.compile(r'^(?:ok (\w+)|FAILED (\w+): (.*))$', re.M)


class GuestScript:
    """One such script. Its cases are known without running it."""

    def __init__(self, name, before='', after=''):
        """before, after: shell commands for the VM that it needs around it."""
        self.command = '; '.join(
            filter(None, (before, 'python3 /tests/%s.py vcx0' % name, after)))
        with open('%s/%s.py' % (GUEST, name), encoding='utf-8') as file:
            self.cases = CASE.findall(file.read())
        self.results = None
        self.output = ''

    def result(self, vm, case):
        """'ok', or why the case failed. The first call runs the script."""
        if self.results is None:
            self.output = vm.run(self.command, timeout=240).out
            self.results = {match[1] or match[2]: match[3] or 'ok'
                            for match in RESULT.finditer(self.output)}
        return self.results.get(case, 'did not run:\n' + self.output)
