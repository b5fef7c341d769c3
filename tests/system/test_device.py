# SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB)
"""What a user sees of the device: ibv_devinfo, the rdma tool, sysfs, counters."""
import json
import re

from vmlib.command import port_guid

import device
import xfer

GUID = '%016x' % int(port_guid(1), 16)
IB = '/sys/class/infiniband/vcx0'


def grouped(guid):
    """0123456789abcdef -> 0123:4567:89ab:cdef"""
    return ':'.join(guid[at:at + 4] for at in range(0, 16, 4))


def devinfo(vm):
    """ibv_devinfo -v as a dictionary of its last value for each name."""
    out = vm.check('ibv_devinfo -v -d vcx0')
    return dict(re.findall(r'^\s*(\w+):\s+(.*?)\s*$', out, re.M)), out


def test_devinfo_shows_an_active_port(one):
    """Names, addresses, the state of the port."""
    info, _ = devinfo(one)
    assert info['hca_id'] == 'vcx0'
    assert info['transport'] == 'InfiniBand (0)'
    assert info['node_guid'] == grouped(GUID)
    assert info['sys_image_guid'] == grouped(GUID)
    assert info['state'] == 'PORT_ACTIVE (4)'
    assert info['link_layer'] == 'InfiniBand'
    assert info['port_lid'] == '1'
    assert info['max_mtu'] == info['active_mtu'] == '4096 (5)'
    assert info['phys_state'] == 'LINK_UP (5)'
    assert re.fullmatch(r'[1-9]\d*\.\d+\.\d+', info['fw_ver'])


def test_devinfo_limits_can_hold(one):
    """Enough for what it is for, and nothing that does not exist."""
    info, out = devinfo(one)
    for name, least in {'max_qp': 1024, 'max_cq': 1024, 'max_mr': 1024, 'max_pd': 1024,
                        'max_cqe': 65537, 'max_sge': 16, 'max_qp_wr': 8192,
                        'max_qp_rd_atom': 4, 'max_qp_init_rd_atom': 4}.items():
        assert int(info[name]) >= least, name
    assert int(info['max_msg_sz'], 0) >= 1 << 30
    # Not implemented, so not claimed.
    for name in ('max_srq', 'max_mw', 'max_mcast_grp', 'max_raw_ethy_qp', 'max_ee'):
        assert int(info[name]) == 0, name
    assert 'ATOMIC_NONE' in info['atomic_cap']
    assert 'ON_DEMAND_PAGING' not in out


def test_a_limit_is_kept_and_the_next_object_refused(vms):
    """The limits of the device's properties are those that programs see."""
    vm = vms(count=1, device_opts='max-qp=64,max-cq=64,max-pd=16')[0]
    info, _ = devinfo(vm)
    assert 0 < int(info['max_qp']) <= 64 and 0 < int(info['max_pd']) <= 16
    rc, out = vm.run([xfer.TOOL, '--self', '--qps', '100', '--bytes', '1M'])
    assert rc == 1 and 'cannot be created' in out, out
    # What was created before was freed with the process.
    assert device.resource_counts(vm)['qp'] == 0
    xfer.alone(vm, '--qps', '20', '--bytes', '1M', '--max-size', '4K')


def test_rdma_link(one):
    """The kernel's view of the port."""
    link, = device.rdma_json(one, 'link')
    assert (link['ifname'], link['port'], link['state'], link['physical_state']) == \
        ('vcx0', 1, 'ACTIVE', 'LINK_UP')
    assert link['lid'] == 1 and link['lmc'] == 0
    assert link['subnet_prefix'] == 'fe80:0000:0000:0000'


def test_sysfs(one):
    """Files of the device and its port."""
    names = ('node_guid sys_image_guid node_type ports/1/state ports/1/phys_state '
             'ports/1/link_layer ports/1/lid ports/1/sm_lid ports/1/rate ports/1/gids/0 '
             'ports/1/pkeys/0')
    values = dict(zip(names.split(), one.check(
        'cd %s && cat %s' % (IB, names)).splitlines()))
    assert values == {
        'node_guid': grouped(GUID), 'sys_image_guid': grouped(GUID), 'node_type': '1: CA',
        'ports/1/state': '4: ACTIVE', 'ports/1/phys_state': '5: LinkUp',
        'ports/1/link_layer': 'InfiniBand', 'ports/1/lid': '0x1',
        'ports/1/sm_lid': values['ports/1/sm_lid'], 'ports/1/rate': values['ports/1/rate'],
        'ports/1/gids/0': 'fe80:0000:0000:0000:' + grouped(GUID),
        'ports/1/pkeys/0': '0xffff'}
    assert re.fullmatch(r'\d+ Gb/sec \(.*\)', values['ports/1/rate'])
    assert one.check('readlink -f %s/device' % IB).strip().endswith(device.PCI)
    # Writable, and what was written is read back.
    one.check('echo somewhere >%s/node_desc' % IB)
    assert one.check('cat %s/node_desc' % IB).strip() == 'somewhere'


def test_pci_function(one):
    """An Express endpoint with MSI-X and function-level reset."""
    out = one.check('lspci -vv -s ' + device.PCI)
    assert 'Infiniband controller' in out and 'Kernel driver in use: vcx' in out
    assert 'Express' in out and 'Endpoint' in out and 'FLReset+' in out
    assert re.search(r'Region 0: Memory at .*\(64-bit, prefetchable\)', out)
    assert re.search(r'MSI-X: Enable\+', out)
    assert 'BusMaster+' in out


def interrupts(vm):
    """The device's interrupts: (kind, how many so far) for each vector."""
    found = []
    for line in vm.check('grep vcx /proc/interrupts || true').splitlines():
        words = line.split()
        kind = re.fullmatch(r'vcx-(\w+)@' + device.PCI, words[-1])[1]
        found.append((kind, sum(int(word) for word in words[1:] if word.isdigit())))
    return found


def test_completion_vectors_raise_interrupts(one):
    """A vector per CPU and one for the rest; events arrive through them."""
    def completions():
        return sum(count for kind, count in interrupts(one) if kind == 'completion')
    kinds = [kind for kind, _ in interrupts(one)]
    assert sorted(kinds) == ['async', 'completion', 'completion']
    before = completions()
    xfer.alone(one, '--events', '--bytes', '1M')
    assert completions() > before


def test_resource_details(one):
    """`rdma resource show` knows each object, and what of it is ours."""
    before = device.resource_counts(one)
    with one.start('python3 /tests/hold_objects.py vcx0') as job:
        job.wait_output('}\n')
        held = json.loads(job.output())
        after = device.resource_counts(one)
        for kind in ('pd', 'cq', 'qp', 'mr', 'ctx'):
            assert after[kind] == before[kind] + 1, kind

        def show(kind):
            return [entry for entry in device.rdma_json(one, '-d', '-d', 'resource', 'show', kind)
                    if entry.get('pid') == held['pid']]
        qp, = show('qp')
        assert (qp['lqpn'], qp['type'], qp['state']) == (held['qpn'], 'RC', 'RESET')
        assert qp['comm'] == 'python3'
        # From here on, details that the driver adds.
        assert str(qp).count('max_send_wr') == str(qp).count('doorbell_page') == 1, qp
        cq, = show('cq')
        assert cq['cqe'] == held['cqe'] and 'entries' in str(cq) and 'cqn' in str(cq), cq
        mr, = show('mr')
        assert int(str(mr['mrlen'])) == 12345 and 'page_size' in str(mr), mr
        assert len(show('pd')) == 1
        assert device.objects(one)['objects_qp'] >= 1
        job.kill('KILL')
        job.wait()
    # A killed process leaves nothing.
    assert device.resource_counts(one) == before


def test_hardware_counters_count(one):
    """Writes and reads that the port has answered; no error in calm weather."""
    before = device.hw_counters(one)
    writes = xfer.alone(one, '--op', 'write', '--bytes', '1M').operations
    reads = xfer.alone(one, '--op', 'read', '--bytes', '1M').operations
    after = device.hw_counters(one)
    delta = {name: after[name] - before[name] for name in after if after[name] != before[name]}
    assert delta.pop('rx_write_requests') == writes
    assert delta.pop('rx_read_requests') == reads
    assert delta == {}
    shown, = device.rdma_json(one, 'statistic', 'show', 'link', 'vcx0/1')
    assert {name: shown[name] for name in after} == after


def test_device_counters_count(one):
    """Counters in QEMU: packets and bytes of the traffic, nothing dropped."""
    before = device.counters(one)
    moved = xfer.alone(one, '--op', 'write', '--bytes', '1M').bytes
    after = device.counters(one)
    delta = {name: after[name] - before[name] for name in after}
    assert delta['bytes_sent'] == delta['bytes_received'] == moved
    assert delta['packets_sent'] == delta['packets_received'] == delta['loopback_packets'] > 0
    assert delta['completions'] > 0 and delta['doorbells'] > 0
    for name, value in delta.items():
        if name.startswith(('drop_', 'naks_', 'rnr_', 'error_', 'cq_over')) or \
                name in ('commands_failed', 'dma_errors', 'mmio_unknown', 'retries',
                         'doorbells_refused', 'qp_errors', 'unroutable'):
            assert value == 0, name


def test_unloading_the_driver_empties_the_device(one):
    """Object counts are there while it is loaded, and zero after."""
    assert device.objects(one)['objects_eq'] >= 2
    device.unload_driver(one)
    assert one.check('ls /sys/class/infiniband') == ''
    device.load_driver(one)
    xfer.alone(one, '--bytes', '1M')
