# SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB)
"""A thousand queue pairs at the same time."""
import device
import xfer

QPS = 1000


def test_a_thousand_queue_pairs(vms):
    """All exist at once and each moves data; then everything is destroyed, the
    driver unloaded, and no object is left in the device."""
    vm = vms(count=1, smp=2, mem=1536)[0]
    empty = device.objects(vm)
    job = vm.start([xfer.TOOL, '--self', '--qps', str(QPS // 2), '--max-size', '8K',
                    '--bytes', '40M', '--depth', '8', '--seed', '5'])
    peak = 0
    while job.poll() is None and peak < QPS:
        peak = max(peak, device.objects(vm).get('objects_qp', 0))
        vm.check('sleep 0.1')
    done = xfer.result(job.wait(240).out)
    assert peak == QPS
    assert done.qps == QPS // 2 and done.bytes >= 40 << 20
    assert not any(device.resource_counts(vm).values())
    assert device.objects(vm) == empty
    device.unload_driver(vm)


def test_a_process_with_many_queue_pairs_is_killed(vms):
    """The kernel destroys them all, in the middle of their traffic."""
    vm = vms(count=1, smp=2, mem=1536)[0]
    if not vm.check('ls /sys/class/infiniband'):
        device.load_driver(vm)
    empty = device.objects(vm)
    with vm.start([xfer.TOOL, '--self', '--qps', '200', '--max-size', '8K', '--bytes',
                   '100G']) as job:
        for _ in range(200):
            if device.objects(vm).get('objects_qp', 0) == 400:
                break
            vm.check('sleep 0.1')
        moved = device.counters(vm)['bytes_sent']
        vm.check('sleep 1')
        assert device.counters(vm)['bytes_sent'] > moved, job.output()
        job.kill('KILL')
        job.wait()
    assert not any(device.resource_counts(vm).values())
    assert device.objects(vm) == empty
    device.unload_driver(vm)
