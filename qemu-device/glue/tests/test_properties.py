# SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB)
"""Properties: limits, refusals, help."""
import re
import subprocess

import pytest

from qemu_machine import TOP, Machine, qemu_command

# name: (least, greatest, default)
NUMBERS = {
    'lid': (0, 0xbfff, 0),
    'mtu': (256, 4096, 4096),
    'max-payload': (256, 61440, 61440),
    'num-vectors': (0, 2048, 0),
    'max-qp': (1, 1 << 18, 1 << 16),
    'max-cq': (1, 1 << 20, 1 << 16),
    'max-srq': (1, 1 << 20, 1 << 15),
    'max-mr': (1, 1 << 22, 1 << 20),
    'max-pd': (1, 1 << 20, 1 << 16),
    'max-eq': (4, 128, 128),
    'max-uar': (1, 1 << 16, 1024),
    'boot-pages': (0, 1 << 16, 0),
    'init-pages': (0, 1 << 16, 0),
    'x-vendor-id': (1, 0xfffe, 0x1234),
    'x-device-id': (0, 0xffff, 0x5658),
    'x-subsystem-vendor-id': (0, 0xffff, 0x1234),
    'x-subsystem-id': (0, 0xffff, 0x5658),
}


@pytest.fixture(scope='module')
def machine():
    with Machine('-M', 'q35', '-device', 'pcie-root-port,id=rp,chassis=1') as m:
        yield m


@pytest.fixture(scope='module')
def described(machine):
    """What QEMU knows of every property."""
    return {p['name']: p for p in
            machine.qmp('device-list-properties', typename='vcx')}


def refusal(machine, **properties):
    """The sentence for a device with these properties."""
    return machine.qmp_error('device_add', driver='vcx', bus='rp', **properties)


def number_text(name, value):
    return f'{value:#x}' if name.startswith('x-') else str(value)


@pytest.mark.parametrize('name', NUMBERS)
def test_number_outside_its_limits_is_refused(machine, name):
    least, greatest, _ = NUMBERS[name]
    for value in (least - 1, greatest + 1, 1 << 32, 'abc', ''):
        sentence = refusal(machine, **{name: str(value)})
        assert sentence.startswith(name + ' must be'), sentence
        assert number_text(name, least) in sentence
        assert number_text(name, greatest) in sentence


@pytest.mark.parametrize('value', [257, 1000, 1500, 3072])
def test_mtu_must_be_one_that_infiniband_has(machine, value):
    sentence = refusal(machine, mtu=str(value))
    assert 'mtu must be' in sentence
    assert '256, 512, 1024, 2048 or 4096' in sentence


@pytest.mark.parametrize('which', [0, 1], ids=['least', 'greatest'])
def test_number_at_its_limit_is_taken(which):
    """In one machine for all: a root bus has room for that many devices."""
    devices = []
    for name, limits in NUMBERS.items():
        devices += ['-device', f'vcx,id={name},{name}={limits[which]}']
    with Machine('-M', 'q35', *devices) as m:
        for name, limits in NUMBERS.items():
            expected = limits[which]
            if name == 'num-vectors' and expected == 0:
                expected = 64  # chosen by the device
            assert m.get(name, name) == expected


@pytest.mark.parametrize('guid', [
    '0', '0x0', '0000000000000000', '123', 'xyz', '0002c90300a0b1c', ':',
    '0002c90300a0b1c2d', '0x10002c90300a0b1c2', '0002c90300a0b1c2:', '-1', ''])
def test_bad_guid_is_refused(machine, guid):
    sentence = refusal(machine, guid=guid)
    assert sentence.startswith('guid must be 16 hexadecimal digits'), sentence


@pytest.mark.parametrize('guid', [
    '0002c90300a0b1c2', '0002:c903:00a0:b1c2', '00:02:c9:03:00:a0:b1:c2',
    '0x2c90300a0b1c2', '0002C90300A0B1C2'])
def test_guid_can_be_written_in_all_usual_ways(guid):
    with Machine('-M', 'q35', '-device', f'vcx,id=v,guid={guid}') as m:
        assert m.get('v', 'guid') == '0002c90300a0b1c2'


def test_guid_from_mac():
    with Machine('-M', 'q35', '-device', 'vcx,id=v,mac=52:54:00:12:34:56') as m:
        assert m.get('v', 'guid') == '525400fffe123456'


def guids(*arguments):
    with Machine('-M', 'q35', '-device', 'vcx,id=a', '-device', 'vcx,id=b',
                 *arguments) as m:
        return m.get('a', 'guid'), m.get('b', 'guid')


def test_guids_differ_between_devices_and_machines():
    found = {*guids(), *guids()}
    assert len(found) == 4


def test_guid_from_uuid_stays_the_same():
    uuid = ('-uuid', '9f3c1a52-7d5c-4c1e-8c1b-2f0a5d6e7b81')
    first = guids(*uuid)
    assert first[0] != first[1]
    assert guids(*uuid) == first


def test_unknown_link_is_refused(machine):
    assert refusal(machine, link='roce') == 'link must be ib or eth'


def test_ethernet_is_refused_plainly(machine):
    sentence = refusal(machine, link='eth')
    assert sentence.startswith('link') and 'not implemented' in sentence


@pytest.mark.parametrize('plan, item, reason', [
    ('dorp=1%', 'dorp=1%', 'drop, duplicate, reorder, delay or corrupt'),
    ('drop=1%+drop=101%', 'drop=101%', 'at most 100'),
    ('drop@wirte#1', 'drop@wirte#1', 'kind of packet'),
    ('delay=1%:5', 'delay=1%:5', 'unit'),
    ('drop', 'drop', 'is missing'),
])
def test_bad_fault_plan_is_refused_with_its_item(machine, plan, item, reason):
    sentence = refusal(machine, fault=plan)
    assert sentence.startswith(f"fault: '{item}': "), sentence
    assert reason in sentence


def test_fault_plan_is_taken_and_counted():
    plan = 'seed=7+drop=1%+corrupt=0.1%+reorder=5%:3+delay@ack#1-2:200us'
    with Machine('-M', 'q35', '-device', f'vcx,id=v,fault={plan}') as m:
        assert m.get('v', 'fault') == plan
        assert m.counters('v')['fault_packets'] == 0


def test_missing_netdev_is_refused(machine):
    assert 'netdev' in refusal(machine, netdev='nowhere')


def test_command_line_says_it_in_one_line():
    done = subprocess.run(qemu_command('-device', 'vcx,max-qp=0'), text=True,
                          capture_output=True, timeout=20, check=False)
    assert done.returncode == 1
    assert done.stdout == ''
    lines = done.stderr.splitlines()
    assert len(lines) == 1, done.stderr
    assert 'max-qp must be a whole number from 1 to 262144' in lines[0]


def test_properties_do_not_change_afterwards():
    with Machine('-M', 'q35', '-device', 'vcx,id=v') as m:
        for name in [*NUMBERS, 'link', 'guid', 'fault']:
            value = 1 if name in NUMBERS else 'ib'
            sentence = m.qmp_error('qom-set', path='/machine/peripheral/v',
                                   property=name, value=value)
            assert name in sentence


def test_the_command_to_fail_can_be_set_at_any_time():
    with Machine('-M', 'q35', '-device', 'vcx,id=v,x-fail-cmd=7') as m:
        assert m.get('v', 'x-fail-cmd') == 7
        m.qmp('qom-set', path='/machine/peripheral/v', property='x-fail-cmd', value=2)
        assert m.get('v', 'x-fail-cmd') == 2
        assert m.qmp_error('qom-set', path='/machine/peripheral/v',
                           property='x-fail-cmd', value=-1)


def test_counters_are_text_and_read_only():
    with Machine('-M', 'q35', '-device', 'vcx,id=v') as m:
        text = m.get('v', 'counters')
        assert text.endswith('\n')
        counters = m.counters('v')
        assert counters['objects_qp'] == 0
        assert len(counters) == len(text.splitlines())
        m.qmp_error('qom-set', path='/machine/peripheral/v',
                    property='counters', value='x')


def test_defaults_are_those_that_are_documented(described):
    for name, (_, _, default) in NUMBERS.items():
        assert described[name]['default-value'] == default


def test_help_documents_every_property(described):
    text = subprocess.run([TOP / 'scripts' / 'qemu-vcx', '--help'], check=True,
                          stdout=subprocess.PIPE, text=True).stdout
    text = re.sub(r'\n +\[', ' [', text)
    generic = {p['name'] for p in described.values()
               if p['name'] not in NUMBERS and 'vcx' not in p.get('description', '')}
    ours = set(NUMBERS) | {'link', 'netdev', 'guid', 'mac', 'fault', 'counters',
                           'x-fail-cmd'}
    assert ours <= set(described)
    assert generic  # addr, rombar and the like are QEMU's
    for name in ours:
        line = re.search(rf'^ +{name}(=\S+)? +(.*)$', text, re.M)
        assert line, f'{name} is not in --help'
        if name in NUMBERS and name != 'mtu':
            least, greatest, default = NUMBERS[name]
            limits = f'{least} to {number_text(name, greatest)}'
            assert limits in line.group(2), line.group(0)
            assert f'[{number_text(name, default)}' in line.group(2), line.group(0)


def test_every_own_property_is_described(described):
    for name in {*NUMBERS, 'link', 'guid', 'mac', 'netdev', 'fault', 'counters',
                 'x-fail-cmd'}:
        assert described[name].get('description'), name
