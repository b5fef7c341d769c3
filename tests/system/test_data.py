# SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB)
"""Data arrives as it was sent: every byte of random messages is compared."""
import pytest

from vmlib import CommandFailed

import xfer

HUNDRED_MB = 100 * 1000 * 1000
OPS = ('write', 'read', 'send')


@pytest.mark.parametrize('op', OPS)
def test_100_mb_between_two_vms(pair, op):
    """Random sizes, offsets and scatter/gather lists; equal on both sides."""
    done = xfer.between(pair[1], pair[0], '--op', op, '--bytes', str(HUNDRED_MB),
                        '--qps', '2', '--both', '--seed', '11', timeout=180)
    assert done.bytes >= HUNDRED_MB
    print('%s: %.1f MB/s with every byte checked' % (op, done.rate))


@pytest.mark.parametrize('op', OPS)
def test_100_mb_in_one_vm(one, op):
    """The same through the loopback."""
    done = xfer.alone(one, '--op', op, '--bytes', str(HUNDRED_MB), '--seed', '12',
                      timeout=180)
    assert done.bytes >= HUNDRED_MB


VARIANTS = {
    'all operations, polling': (),
    'completion events': ('--events',),
    'solicited events': ('--solicited',),
    'extended posting interface': ('--wr-api',),
    'one request at a time': ('--depth', '1'),
    'long lists, no inline': ('--sges', '16', '--inline', '0'),
    'tiny messages': ('--max-size', '40', '--bytes', '200K', '--depth', '64'),
    'inline only': ('--max-size', '200', '--inline', '200', '--bytes', '200K', '--op',
                    'write,send'),
    'path MTU 256': ('--mtu', '256', '--bytes', '2M'),
    'path MTU 1024': ('--mtu', '1024'),
    'global route': ('--gid-index', '0'),
    'many queue pairs, both directions': ('--qps', '30', '--both', '--max-size', '20K'),
}


def words_of(variant):
    """Options of a variant, for the client and for the server."""
    words = VARIANTS[variant]
    if '--bytes' not in words:
        words = ('--bytes', '6M', *words)
    own = ('--events', '--solicited', '--wr-api')
    server = [word for word in words if word in own]
    for name in ('--mtu', '--gid-index'):
        if name in words:
            server += [name, words[words.index(name) + 1]]
    return words, server


@pytest.mark.parametrize('variant', VARIANTS)
def test_variants_in_one_vm(one, variant):
    """Ways to post, to wait and to cut messages."""
    xfer.alone(one, *words_of(variant)[0], '--seed', '21')


@pytest.mark.parametrize('variant', VARIANTS)
def test_variants_between_two_vms(pair, variant):
    """The same over the wire."""
    words, server_words = words_of(variant)
    xfer.between(pair[1], pair[0], *words, '--seed', '22', server_words=server_words)


def test_long_messages(one):
    """Longer than any window, so that retries and acknowledgements are in flight
    while a message is; by write, read and send."""
    for op in OPS:
        done = xfer.alone(one, '--fixed-size', '40M', '--area', '41M', '--rounds', '1',
                          '--op', op, '--inline', '0')
        assert done.bytes == 40 << 20


def test_a_damaged_byte_is_noticed(one):
    """The tool's own check can fail."""
    rc, out = one.run([xfer.TOOL, '--self', '--spoil', '--bytes', '1M'])
    assert rc == 1 and 'arrived damaged: byte 0' in out, out
    with pytest.raises(CommandFailed):
        xfer.result(out)
