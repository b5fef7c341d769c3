# SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB)
"""A plot of the medians by message size, as SVG, without any library."""
import math
from html import escape

from vmlib import programs

from .cases import DEVICES, OPERATIONS
from .report import PARTS, rows_of

WIDTH, HEIGHT, MARGIN = 420, 260, 56
COLOURS = {'vcx': '#0060a0', 'rxe': '#c05000'}
DASHES = {'write': '', 'read': '6,3', 'send': '2,3'}


class Panel:
    """One pair of axes, both logarithmic."""

    def __init__(self, left, top, sizes, values):
        self.left, self.top = left + MARGIN, top + 28
        self.width, self.height = WIDTH - MARGIN - 16, HEIGHT - 28 - 36
        self.sizes = sizes
        self.low = math.floor(math.log10(min(values)))
        self.high = max(self.low + 1, math.ceil(math.log10(max(values))))

    def place(self, size, value):
        """Where a point lies."""
        step = self.width / max(1, len(self.sizes) - 1)
        part = (math.log10(value) - self.low) / (self.high - self.low)
        return (self.left + step * self.sizes.index(size),
                self.top + self.height * (1 - part))

    def axes(self, title):
        """Frame, grid and labels."""
        parts = [text(self.left, self.top - 10, title, weight='bold')]
        for power in range(self.low, self.high + 1):
            _, y = self.place(self.sizes[0], 10.0 ** power)
            parts.append('<path d="M%.1f %.1fh%d" stroke="#ccc"/>' % (self.left, y, self.width))
            parts.append(text(self.left - 6, y + 4, '%g' % 10.0 ** power, anchor='end'))
        for size in self.sizes:
            x, _ = self.place(size, 10.0 ** self.low)
            parts.append(text(x, self.top + self.height + 16, programs.size_text(size),
                              anchor='middle'))
        return parts

    def line(self, device, operation, points):
        """The medians of one operation of one device."""
        places = [self.place(size, value) for size, value in points]
        path = 'M' + 'L'.join('%.1f %.1f' % place for place in places)
        return ['<path d="%s" fill="none" stroke="%s" stroke-width="2" stroke-dasharray="%s"/>'
                % (path, COLOURS[device], DASHES[operation])] + [
                    '<circle cx="%.1f" cy="%.1f" r="3" fill="%s"/>' % (*place, COLOURS[device])
                    for place in places]


def text(x, y, words, anchor='start', weight='normal', colour='#000'):
    """A piece of text."""
    return ('<text x="%.1f" y="%.1f" text-anchor="%s" font-weight="%s" fill="%s">%s</text>'
            % (x, y, anchor, weight, colour, escape(words)))


def points_of(results, place, part):
    """{(device, operation): [(size, median)]} for one QP."""
    points = {}
    for case, found in rows_of(results, place, part):
        for device in DEVICES:
            if case.qps == 1 and found[device] and found[device][1] > 0:
                points.setdefault((device, case.operation), []).append(
                    (case.size, found[device][1]))
    return {key: sorted(value) for key, value in points.items()}


def svg(results, places):
    """The whole picture."""
    body = []
    for row, place in enumerate(places):
        for column, part in enumerate(PARTS):
            points = points_of(results, place, part)
            if not points:
                continue
            flat = [point for line in points.values() for point in line]
            panel = Panel(column * WIDTH, row * HEIGHT, sorted({size for size, _ in flat}),
                          [value for _, value in flat])
            body += panel.axes('%s, %s (%s)' % (part[0], place, part[2]))
            for (device, operation), line in points.items():
                body += panel.line(device, operation, line)
    bottom = len(places) * HEIGHT + 16
    for index, (device, operation) in enumerate(
            (device, operation) for device in DEVICES for operation in OPERATIONS):
        x = MARGIN + index * 130
        body.append('<path d="M%d %dh30" stroke="%s" stroke-width="2" stroke-dasharray="%s"/>'
                    % (x, bottom - 4, COLOURS[device], DASHES[operation]))
        body.append(text(x + 36, bottom, '%s %s' % (device, operation)))
    return ('<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-size="11" '
            'font-family="sans-serif"><rect width="100%%" height="100%%" fill="#fff"/>%s</svg>\n'
            % (WIDTH * len(PARTS), bottom + 16, ''.join(body)))
