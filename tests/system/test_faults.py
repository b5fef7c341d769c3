# SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB)
"""Bad wires: what is lost, doubled, reordered and damaged is repaired, and the
counters of both devices account for every packet."""
import time

import device
import xfer

PLAN = 'fault=seed=4{vm}+drop=1%+corrupt=0.1%+duplicate=1%+reorder=5%'
RATES = {'dropped': 0.01, 'corrupted': 0.001, 'duplicated': 0.01, 'reordered': 0.05}
SUM_BYTES = 100 * 1000 * 1000
OPS = ('write', 'read', 'send')
# Where the link's checks put a frame with a flipped bit, by where the bit was.
DAMAGE = ('drop_vcrc', 'drop_icrc', 'drop_truncated', 'drop_length', 'drop_header')


def quiet(vm):
    """The counters, once the device has stopped sending and receiving."""
    last = None
    for _ in range(50):
        now = device.counters(vm)
        if now == last:
            return now
        last = now
        time.sleep(0.2)
    raise AssertionError('the device does not come to rest')


def assert_explained(sender, receiver):
    """Every packet of the sender is where its plan has put it; nothing else was
    lost. With these, packets_sent = frames_received of the receiver + dropped
    + corrupted - duplicated."""
    faults = {name: sender['fault_' + name] for name in RATES}
    damaged = sum(receiver[name] for name in DAMAGE)
    assert sender['fault_packets'] == sender['packets_sent']
    assert sender['frames_sent'] + sender['loopback_packets'] + sender['unroutable'] == \
        sender['packets_sent'] - faults['dropped'] + faults['duplicated']
    assert damaged == faults['corrupted']
    assert receiver['frames_received'] == sender['frames_sent'] - damaged
    for name, rate in RATES.items():
        assert 0.5 * rate < faults[name] / sender['fault_packets'] < 1.5 * rate, name


def test_100_mb_over_a_bad_wire(vms):
    """Both directions at once, with every kind of fault in each."""
    server, client = vms(count=2, device_opts=PLAN)
    started = time.monotonic()
    done = [xfer.between(server, client, '--op', op, '--both', '--qps', '4', '--seed', '31',
                         '--bytes', str(SUM_BYTES // len(OPS) + 1), timeout=240)
            for op in OPS]
    seconds = time.monotonic() - started
    assert sum(one.bytes for one in done) >= SUM_BYTES
    print('%.1f s; MB/s: %s' % (seconds, ', '.join(
        '%s %.1f' % (op, one.rate) for op, one in zip(OPS, done))))
    here, there = quiet(client), quiet(server)
    for counters in (here, there):
        print({name: value for name, value in counters.items() if value})
        assert counters['qp_errors'] == 0
        assert counters['error_completions'] == 0
        assert counters['retries'] > 0
    assert_explained(here, there)
    assert_explained(there, here)
