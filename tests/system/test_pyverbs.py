# SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB)
"""rdma-core's own Python tests, unmodified, as the guest's packages bring them.

pyverbs/expected_pass.txt names those that pass. One of them that is skipped or
fails is a regression; one that passes and is not there must be added. What fails
and may fail is in pyverbs/deviations.txt, with the reason, which must be that it
needs something beside the RC transport."""
import os
import re
from collections import Counter, namedtuple

import pytest

import device

pytestmark = pytest.mark.conformance
FOLDER = os.path.join(os.path.dirname(os.path.realpath(__file__)), 'pyverbs')
Outcome = namedtuple('Outcome', 'kind reason')
RESULTS, OUTPUT = {}, []


def listed(name):
    """Lines of a file: first word -> the rest; comments left out."""
    with open('%s/%s' % (FOLDER, name), encoding='utf-8') as file:
        lines = [line.strip() for line in file]
    return dict((line.split(None, 1) + [''])[:2]
                for line in lines if line and not line.startswith('#'))


MUST_PASS, MAY_FAIL = listed('expected_pass.txt'), listed('deviations.txt')


def results(vm):
    """Outcomes of all tests, which run when first asked for."""
    if not OUTPUT:
        # Some tests want huge pages.
        OUTPUT.append(vm.run('echo 24 >/proc/sys/vm/nr_hugepages; '
                             'python3 /tests/run_pyverbs.py vcx0; '
                             'echo 0 >/proc/sys/vm/nr_hugepages', timeout=400).out)
        for kind, name, reason in re.findall(r'^= (\w+) (\S+) ?(.*)$', OUTPUT[0], re.M):
            RESULTS[name] = Outcome(kind, reason)
    return RESULTS


def without_names(reason):
    """A skip's reason, so that those with other numbers count together."""
    return re.sub(r'0x[0-9a-f]+|\d+', 'N', reason)


def test_the_suite_runs(one):
    """To its end, and what it says is printed: run, passed, skipped by reason."""
    found = results(one)
    kinds = Counter(outcome.kind for outcome in found.values())
    print('%d tests: %s' % (len(found), ', '.join(
        '%d %s' % (count, kind) for kind, count in kinds.most_common())))
    reasons = Counter(without_names(outcome.reason) for outcome in found.values()
                      if outcome.kind == 'skipped')
    for reason, count in reasons.most_common():
        print('%4d skipped: %s' % (count, reason))
    for name, outcome in sorted(found.items()):
        if outcome.kind not in ('ok', 'skipped'):
            print('%s: %s %s' % (outcome.kind, name, outcome.reason))
    assert len(found) >= 300, OUTPUT[0][-3000:]


@pytest.mark.parametrize('name', MUST_PASS)
def test_passes(one, name):
    """One of the tests that must pass."""
    outcome = results(one).get(name, Outcome('not run', ''))
    if outcome.kind != 'ok':
        text = OUTPUT[0].partition('> %s\n' % name)[2].partition('\n= ')[0]
        pytest.fail('%s %s\n%s' % (outcome.kind, outcome.reason, text[-3000:]), pytrace=False)


def test_nothing_else_fails(one):
    """Every failure is explained, and every explanation is needed."""
    failed = {name for name, outcome in results(one).items()
              if outcome.kind not in ('ok', 'skipped')}
    assert failed - set(MAY_FAIL) - set(MUST_PASS) == set()
    assert set(MAY_FAIL) - failed == set(), 'these need no explanation any more'
    assert all(MAY_FAIL.values()), 'a deviation needs a reason'


def test_what_passes_is_listed(one):
    """So that it is noticed when it does not pass any more."""
    passed = {name for name, outcome in results(one).items() if outcome.kind == 'ok'}
    assert sorted(passed - set(MUST_PASS)) == []


def test_pyverbs_leaves_nothing_behind(one):
    """No object in the kernel or the device outlives the processes."""
    results(one)
    assert not any(device.resource_counts(one).values())
    assert 'objects_qp' not in device.objects(one)
