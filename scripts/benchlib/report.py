# SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB)
"""Tables of what was measured."""
from statistics import median

from vmlib import programs

from .cases import DEVICES

# (heading, member of Result, unit, factor of the unit, kind of case)
PARTS = (('Bandwidth', 'mbytes', 'MB/s', 1, 'bw'),
         ('Message rate', 'rate', '1000/s', 1e-3, 'bw'),
         ('Latency', 'latency', 'us', 1, 'lat'))


def spread(values, factor):
    """(minimum, median, maximum), or None."""
    known = [value * factor for value in values if value is not None]
    return (min(known), median(known), max(known)) if known else None


def number(value):
    """Three digits that matter."""
    return '%.0f' % value if value >= 100 else '%.1f' % value if value >= 10 else '%.2f' % value


def cell(found):
    """min / median / max"""
    return ' / '.join(number(value) for value in found) if found else '-'


def ratio(found, member):
    """How many times better vcx is, by the medians."""
    vcx, rxe = (found[device] for device in DEVICES)
    if not vcx or not rxe or not vcx[1] or not rxe[1]:
        return '-'
    return '%.1f' % (rxe[1] / vcx[1] if member == 'latency' else vcx[1] / rxe[1])


def rows_of(results, place, part):
    """Rows of one table: (case, spreads by device)."""
    _, member, _, factor, kind = part
    for case in [case for at, case in results if at == place and case.kind == kind]:
        yield case, {device: spread([getattr(result, member) for result
                                     in results[place, case][device]], factor)
                     for device in DEVICES}


def tables(results, places):
    """All tables as lines of text."""
    lines = []
    for place in places:
        for part in PARTS:
            rows = list(rows_of(results, place, part))
            if not rows:
                continue
            lines += ['', '%s, %s (%s): minimum / median / maximum' % (part[0], place, part[2]),
                      '%-8s %8s %5s   %-28s %-28s %6s' % ('', 'size', 'QPs', *DEVICES, 'ratio')]
            for case, found in rows:
                lines.append('%-8s %8s %5d   %-28s %-28s %6s' % (
                    case.operation, programs.size_text(case.size), case.qps,
                    *(cell(found[device]) for device in DEVICES), ratio(found, part[1])))
    return lines + failures(results)


def failures(results):
    """Why there is nothing where there is nothing."""
    lines = []
    for (place, case), found in results.items():
        for device in DEVICES:
            said = sorted({result.reason for result in found[device] if result.reason})
            if said:
                lines.append('%s, %s, %s %s, %d QPs: %s' % (
                    device, place, case.operation + '_' + case.kind,
                    programs.size_text(case.size), case.qps, '; '.join(said)))
    return ['', 'What did not run:'] + lines if lines else []
