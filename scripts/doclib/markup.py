# SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB)
"""Finds what documents claim: literals, commands in literal blocks."""
import re
from collections import namedtuple

Claim = namedtuple('Claim', 'line text')


def _line_of(text, position):
    return text.count('\n', 0, position) + 1


def _blank(text, start, end):
    """The text with a part made blank, lines kept."""
    part = re.sub(r'[^\n]', ' ', text[start:end])
    return text[:start] + part + text[end:]


def _split_rst(text):
    """Running text and literal blocks of reStructuredText, both with all lines."""
    lines = text.split('\n')
    running, blocks = list(lines), [''] * len(lines)
    index = 0
    while index < len(lines):
        line = lines[index]
        index += 1
        if not line.rstrip().endswith('::') and not re.match(r'\s*\.\. code-block::', line):
            continue
        indent = len(line) - len(line.lstrip())
        while index < len(lines) and (not lines[index].strip() or
                                      len(lines[index]) - len(lines[index].lstrip()) > indent):
            blocks[index], running[index] = lines[index], ''
            index += 1
    return '\n'.join(running), '\n'.join(blocks)


def _split_markdown(text):
    """The same of Markdown; blocks are fenced."""
    blocks = re.sub(r'[^\n]', '', text).split('\n')
    for fence in re.finditer(r'^```.*?^```$', text, re.M | re.S):
        first = _line_of(text, fence.start())
        for offset, line in enumerate(fence.group().split('\n')[1:-1], 1):
            blocks[first - 1 + offset] = line
        text = _blank(text, *fence.span())
    return text, '\n'.join(blocks)


def literals(name, text):
    """Claims of the running text: each literal, white space made single."""
    if name.endswith('.md'):
        running, mark = _split_markdown(text)[0], re.compile(r'`([^`\n]+)`')
    else:
        running = _split_rst(text)[0]
        # A role's text is in single quotes, a literal's in double ones.
        mark = re.compile(r'``((?:[^`\n]|\n(?!\s*\n))+?)``')
    for found in mark.finditer(running):
        yield Claim(_line_of(running, found.start()), ' '.join(found.group(1).split()))


def block_lines(name, text):
    """Claims of literal blocks: lines that are commands, without a prompt."""
    blocks = (_split_markdown if name.endswith('.md') else _split_rst)(text)[1]
    for number, line in enumerate(blocks.split('\n'), 1):
        command = re.match(r'\s*(?:[$#] )?((?:make|scripts/\S+)(?: .*)?)$', line)
        if command:
            yield Claim(number, command.group(1).split('#')[0].strip())
