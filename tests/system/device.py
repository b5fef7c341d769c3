# SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB)
"""Looks at the device from outside (QMP) and from inside the guest (sysfs)."""
import json

PCI = '0000:01:00.0'
SYSFS = '/sys/bus/pci/devices/' + PCI


def counters(vm):
    """The device's counters: name -> value."""
    text = vm.qmp('qom-get', path='/machine/peripheral/vcx', property='counters')
    return {name: int(value) for name, value in map(str.split, text.splitlines())}


def objects(vm):
    """What exists in the device: those object counts that are not zero."""
    found = {name: value for name, value in counters(vm).items()
             if name.startswith('objects_')}
    assert len(found) >= 8, 'the device has no object counts: %s' % found
    return {name: value for name, value in found.items() if value}


def assert_empty(vm):
    """No object exists in the device: the driver gave everything back."""
    assert objects(vm) == {}


def rdma_json(vm, *words):
    """Output of the rdma tool, parsed."""
    return json.loads(vm.check(['rdma', '-j', *words]))


def resource_counts(vm, name='vcx0'):
    """The kernel's own object counts of a device."""
    summary, = [entry for entry in rdma_json(vm, 'resource', 'show')
                if entry['ifname'] == name]
    return {key: value for key, value in summary.items()
            if key not in ('ifindex', 'ifname')}


def hw_counters(vm, name='vcx0'):
    """The port's hardware counters in sysfs."""
    out = vm.check('cd /sys/class/infiniband/%s/ports/1/hw_counters && grep -H . *' % name)
    return {key: int(value) for key, value in
            (line.split(':') for line in out.splitlines()) if key != 'lifespan'}


def load_driver(vm, *parameters):
    """insmod vcx.ko and wait for the RDMA device."""
    vm.check(['/vm/guest/load-driver', 'vcx', *parameters], timeout=60)


def unload_driver(vm):
    """rmmod vcx; the device is empty then."""
    vm.check('rmmod vcx', timeout=60)
    assert_empty(vm)
