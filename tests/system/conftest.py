# SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB)
"""VMs for the system tests. They are shared: a test gets a group that is already
running when its options fit and nothing went wrong in it."""
import os

import pytest

from vmlib import VmError, VmGroup

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
SHARES = [(TOP + '/build/tools/trixie', '/tools', False),
          (TOP + '/build/modules', '/modules', False),
          (TOP + '/tests/system/guest', '/tests', False)]
# Tests with the same VMs follow one another; the others boot their own.
ORDER = ('one', 'pair')


class Pool:
    """At most one running group of VMs, and what it was made for."""

    def __init__(self):
        self.group = self.options = None

    def get(self, **options):
        """A running group with these options."""
        if options != self.options or not all(vm.alive() for vm in self.group):
            self.stop()
            group = VmGroup(shares=SHARES, **options)
            group.start()
            self.group, self.options = group, options
        return self.group

    def check(self):
        """Kernels and sanitizers have not complained; else an error, once."""
        if self.group is not None:
            try:
                self.group.assert_clean()
            except VmError:
                self.stop()
                raise

    def stop(self):
        """End the running group."""
        if self.group is not None:
            self.group.stop()
            self.group = self.options = None


@pytest.fixture(name='pool', scope='session')
def pool_fixture():
    """The pool, emptied at the end."""
    pool = Pool()
    yield pool
    pool.stop()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item):
    """Remember whether the test itself failed."""
    outcome = yield
    if outcome.get_result().failed:
        item.went_wrong = True


@pytest.fixture(name='vms')
def vms_fixture(pool, request):
    """A function that gives VMs with options of its choice: vms(count=2). They
    are checked after the test, and not used again when it failed."""
    yield pool.get
    if getattr(request.node, 'went_wrong', False):
        pool.stop()
    pool.check()


@pytest.fixture(name='one')
def one_fixture(vms):
    """A VM with two CPUs and the driver loaded."""
    return vms(count=1, smp=2)[0]


@pytest.fixture(name='pair')
def pair_fixture(vms):
    """Two such VMs with one CPU each, and a wire between their devices."""
    return vms(count=2)


def pytest_configure(config):
    """The marker of the level "conformance"."""
    config.addinivalue_line('markers', 'conformance: programs that others wrote')


def pytest_collection_modifyitems(items):
    """Bring tests together that use the same VMs."""
    def place(item):
        shared = next((index for index, name in enumerate(ORDER)
                       if name in item.fixturenames), len(ORDER))
        guest = getattr(item, 'callspec', None) and item.callspec.params.get('guest')
        return shared, guest or '', str(item.fspath)
    items.sort(key=place)
