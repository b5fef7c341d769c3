# SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB)
"""The QEMU command line of one VM."""
import shlex

from . import artifacts

# Under TCG: with ERMS/FSRM in sight, glibc and the kernel copy with `rep movsb`,
# which TCG runs byte by byte (20 MB/s instead of 400); carry-less multiplication
# is slower through TCG's helpers than CRC tables; 5-level paging only costs.
TCG_CPU = 'max,la57=off,erms=off,fsrm=off,pclmulqdq=off'
# Warnings and worse on the console; everything goes to /vm/kmsg.
KERNEL = ('console=ttyS0 loglevel=5 panic=-1 oops=panic nokaslr mitigations=off '
          'tsc=nowatchdog no_timer_check rcupdate.rcu_expedited=1 random.trust_cpu=on')


def mac(wire, number):
    """The MAC address of VM `number` on a wire: 0 management, 1 RDMA."""
    return '02:00:00:00:%02x:%02x' % (wire, number)


def port_guid(number):
    """The port GUID that VM `number` gets: the EUI-64 of its RDMA MAC."""
    return '0x020000fffe0001%02x' % number


def accel_args(accel):
    """Accelerator and CPU model."""
    if accel == 'kvm':
        return ['-accel', 'kvm', '-cpu', 'host']
    return ['-accel', 'tcg,thread=multi', '-cpu', TCG_CPU]


def machine_args(options, image, number, accel):
    """Machine, kernel and root file system."""
    return [
        '-name', 'vm%d' % number, '-nodefaults', '-no-user-config', '-display', 'none',
        '-no-reboot', '-M', 'q35', '-m', str(options.mem), '-smp', str(options.smp),
        *accel_args(accel),
        '-kernel', image + '/vmlinux', '-initrd', image + '/initrd.cpio',
        '-append', (KERNEL + ' ' + options.append).strip(),
        '-drive', 'if=none,id=root,format=raw,readonly=on,file=%s/root.erofs' % image,
        '-device', 'virtio-blk-pci,drive=root',
    ]


def channel_args(vm):
    """Console, control socket, agent, shared folders."""
    args = [
        # The log file has everything, whether or not somebody is connected.
        '-chardev', 'socket,id=console,path=%s/console,server=on,wait=off,logfile=%s/console.log'
        % (vm.sockets, vm.dir),
        '-serial', 'chardev:console',
        '-qmp', 'unix:%s/qmp,server=on,wait=off' % vm.sockets,
        '-device', 'virtio-serial-pci',
        '-chardev', 'socket,id=agent,path=%s/agent,server=on,wait=off' % vm.sockets,
        '-device', 'virtserialport,chardev=agent,name=agent',
    ]
    for share in vm.shares:
        args += ['-fsdev', 'local,id=%s,path=%s,security_model=none,multidevs=remap%s'
                 % (share.tag, share.host, '' if share.writable else ',readonly=on'),
                 '-device', 'virtio-9p-pci,fsdev=%s,mount_tag=%s' % (share.tag, share.tag)]
    return args


def network_args(options, wires, vm):
    """The management NIC, and the RDMA device with its wire."""
    number, args = vm.number, []
    if options.count > 1:
        args += wires['mgmt'].netdev(number)
        args += ['-device', 'virtio-net-pci,romfile=,netdev=mgmt,mac=' + mac(0, number)]
    rdma = options.wire or options.device == 'rxe'
    if rdma and options.device != 'none':
        args += wires['rdma'].netdev(number)
        if options.pcap:
            args += ['-object', 'filter-dump,id=dump,netdev=rdma,file=%s/wire.pcap' % vm.dir]
    if options.device == 'rxe':
        args += ['-device', 'virtio-net-pci,romfile=,netdev=rdma,host_mtu=9000,mac=' + mac(1, number)]
    elif options.device == 'vcx':
        device = 'vcx,id=vcx,bus=rp1,guid=%s,lid=%d' % (port_guid(number), number)
        if rdma:
            device += ',netdev=rdma'
        if options.device_opts:
            device += ',' + options.device_opts.replace('{vm}', str(number))
        # Behind a root port, as a real card: hot-unplug and FLR go through it.
        args += ['-device', 'pcie-root-port,id=rp1,chassis=1,slot=1', '-device', device]
        if options.rxe:
            args += wires['rxe'].netdev(number)
            args += ['-device', 'virtio-net-pci,romfile=,netdev=rxe,host_mtu=9000,mac='
                     + mac(1, number)]
    return args


def qemu_command(options, image, wires, vm, accel):
    """All words of the command."""
    words = (artifacts.qemu_program(options) + machine_args(options, image, vm.number, accel)
             + channel_args(vm) + network_args(options, wires, vm))
    for extra in options.qemu_args:
        words += shlex.split(extra.replace('{vm}', str(vm.number)).replace('{dir}', vm.dir))
    return words
