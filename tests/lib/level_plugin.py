# SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB)
"""A pytest plugin that ends a run as scripts/check wants a level to end."""
import os


def pytest_terminal_summary(terminalreporter):
    """Explain the skips and print the result line."""
    stats = terminalreporter.stats
    for report in stats.get('skipped', []):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
        terminalreporter.write_line('skipped %s: %s' % (report.nodeid, reason))
    for report in stats.get('xfailed', []):
        terminalreporter.write_line('skipped %s: known failure: %s'
                                    % (report.nodeid, report.wasxfail))
    counts = [sum(len(stats.get(key, [])) for key in keys)
              for keys in (('passed',), ('failed', 'error', 'xpassed'),
                           ('skipped', 'xfailed'))]
    terminalreporter.write_line('level %s: %d passed, %d failed, %d skipped' % (
        (os.environ['VCX_LEVEL'], *counts)))
