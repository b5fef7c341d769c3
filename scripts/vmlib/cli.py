# SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB)
"""The command scripts/vm."""
import argparse
import os
import shlex
import shutil
import signal
import sys
import time

from . import console
from .errors import KernelComplaint, VmDied, VmError, VmTimeout
from .group import VmGroup
from .options import DEVICES, DRIVERS, GUESTS, Options

TIMEOUT, DIED, COMPLAINT = 124, 125, 126

DESCRIPTION = '''\
Boot one or more small VMs, run a program in each, report, and clean up.

    scripts/vm [options] PROGRAM [ARG...]
    scripts/vm [options] PROGRAM1 [ARG...] -- PROGRAM2 [ARG...]     two VMs
    scripts/vm [options] --shell                                    a shell in VM 1

A PROGRAM that is a file on this host (named with a slash) is copied into the
VM and run there; anything else is a command line of the guest's shell:

    scripts/vm ibv_devinfo -v
    scripts/vm ./test.sh a b
    scripts/vm --device rxe 'ib_write_bw -d rxe0' -- \\
               'sleep 1; ib_write_bw -d rxe0 10.0.0.1'

Each VM boots a shared read-only image with an overlay in RAM: what a program
does ends with its VM. The driver is loaded before the programs start.'''

EPILOG = '''\
In a guest:
  VM, VM_COUNT   the VM's number, how many there are
  10.0.0.K       VM K on the management net (net0), for out-of-band TCP
  /vm            the VM's folder on the host (OUT/vmK/share), writable
  /pair          a folder that all VMs of the run share
  /usr/lib/pyverbs/tests   rdma-core's Python tests
  /vm/guest/load-driver DRIVER   what loads the driver

On the host, OUT/vmK has: console.log, kernel.log (all of it), qemu.log, command
(the QEMU command line), share/jobs/N/{cmd,out} and, while the VM runs, sockets
for its console and QMP (see command).

Exit code: the first program's that is not 0; 124 when the time limit passed;
125 when a VM died; 126 when a guest kernel printed a warning (WARNING, BUG,
lockdep, KASAN, hung task, ...); 1 when the VMs could not be started.

Environment: VCX_CACHE (where images are kept), VCX_ACCEL (kvm or tcg instead of
trying), VCX_QEMU (QEMU program for VMs without the vcx device).'''


def arguments():
    """The parser of the options; programs are split off before."""
    parser = argparse.ArgumentParser(
        prog='scripts/vm', description=DESCRIPTION, epilog=EPILOG, allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add('--guest', choices=GUESTS, default='trixie', help='image to boot (trixie)')
    add('--count', type=int, help='VMs that run the same program (as many as programs)')
    add('--smp', type=int, default=1, help='CPUs per VM (1)')
    add('--mem', type=int, default=1024, help='MiB per VM (1024)')
    add('--device', choices=DEVICES, default='vcx',
        help='RDMA device: vcx; rxe, soft RoCE over virtio-net; none (vcx)')
    add('--device-opts', default='', metavar='PROPERTIES',
        help='more properties for -device vcx; {vm} is the number of the VM')
    add('--san', action='store_true', help='the vcx device with ASan and UBSan')
    add('--driver', choices=DRIVERS,
        help='vcx: insmod vcx.ko; mlx5: bind the stock mlx5_core; none (the device\'s own)')
    add('--driver-params', default='', help='module parameters for vcx.ko')
    add('--no-wire', action='store_true', help='do not join the RDMA devices of the VMs')
    add('--pcap', action='store_true', help='record the RDMA wire in OUT/vmK/wire.pcap')
    add('--share', action='append', default=[], metavar='DIR:PATH[:ro]',
        help='mount the host folder DIR at PATH in each VM')
    add('--env', action='append', default=[], metavar='NAME=VALUE',
        help='environment variable for the programs')
    add('--timeout', type=float, default=300, help='seconds for the programs (300)')
    add('--out', help='folder for logs (a new one in build/vm)')
    add('--quiet', action='store_true', help='do not print what the programs print')
    add('--accel', choices=('auto', 'kvm', 'tcg'), default='auto',
        help='auto tries KVM with a guest once and remembers (auto)')
    add('--qemu', help='QEMU program (scripts/qemu-vcx with the vcx device, else stock)')
    add('--qemu-args', action='append', default=[], metavar='ARGS',
        help='more QEMU arguments, one string; {vm} and {dir} are replaced')
    add('--append', default='', help='more kernel parameters')
    add('--allow-kernel', action='append', default=[], metavar='PATTERN',
        help='kernel messages that match are no failure')
    add('--shell', action='store_true', help='interactive shell on the console of VM 1')
    add('--attach', metavar='SOCKET', help='join this terminal and a console socket')
    return parser


def split_programs(words):
    """Options, and a list of programs, each a list of words."""
    with_value = {action.option_strings[0] for action in arguments()._actions
                  if action.option_strings and action.nargs != 0}
    index = 0
    while index < len(words) and words[index].startswith('--') and words[index] != '--':
        index += 2 if words[index] in with_value else 1
    programs, program = [], []
    for word in words[index:] + ['--']:
        if word != '--':
            program.append(word)
        elif program:
            programs.append(program)
            program = []
    # argparse takes a value that begins with a dash for an option.
    options, at = [], 0
    while at < index:
        if words[at] in with_value and at + 1 < index:
            options.append(words[at] + '=' + words[at + 1])
            at += 2
        else:
            options.append(words[at])
            at += 1
    return options, programs


def make_options(args, count):
    """Options of the group from the command line."""
    shares = []
    for text in args.share:
        host, _, rest = text.partition(':')
        guest, _, mode = rest.partition(':')
        if not os.path.isdir(host) or not guest.startswith('/') or mode not in ('', 'ro', 'rw'):
            raise VmError('--share wants DIR:/PATH[:ro] and an existing DIR, not ' + text)
        shares.append((host, guest, mode != 'ro'))
    return Options(
        guest=args.guest, count=count, smp=args.smp, mem=args.mem, device=args.device,
        device_opts=args.device_opts, san=args.san, driver=args.driver, driver_params=args.driver_params,
        wire=False if args.no_wire else None, accel=args.accel, qemu=args.qemu,
        qemu_args=args.qemu_args, append=args.append, shares=shares, pcap=args.pcap,
        env=dict(e.partition('=')[::2] for e in args.env), out=args.out,
        allow_kernel=args.allow_kernel, shell=args.shell)


class Follower:
    """Prints the output of jobs while they run, headed by the VM's number."""

    def __init__(self, jobs, quiet):
        self.jobs, self.quiet = jobs, quiet
        self.positions, self.rest = [0] * len(jobs), [b''] * len(jobs)

    def copy(self, last=False):
        """Print what is new."""
        if self.quiet:
            return
        for index, job in enumerate(self.jobs):
            try:
                with open(job.folder + '/out', 'rb') as file:
                    file.seek(self.positions[index])
                    new = file.read()
            except FileNotFoundError:
                continue
            self.positions[index] += len(new)
            *lines, self.rest[index] = (self.rest[index] + new).split(b'\n')
            if last and self.rest[index]:
                lines.append(self.rest[index])
            head = b'%d| ' % (index + 1) if len(self.jobs) > 1 else b''
            for line in lines:
                sys.stdout.buffer.write(head + line + b'\n')
        sys.stdout.buffer.flush()


def say(text):
    """A line about the run; the programs' output is on standard output."""
    print('vm: ' + text, file=sys.stderr, flush=True)


def command_of(vm, program):
    """The command for a program; a host file is put into the VM's folder."""
    if '/' in program[0] and os.path.isfile(program[0]):
        folder = vm.share + '/program'
        os.makedirs(folder)
        shutil.copy(program[0], folder)
        os.chmod(folder + '/' + os.path.basename(program[0]), 0o755)
        return ['/vm/program/' + os.path.basename(program[0]), *program[1:]]
    return program[0] if len(program) == 1 else shlex.join(program)


def run_programs(group, programs, args):
    """Start a program in each VM, wait for all; the exit code."""
    began = time.monotonic()
    jobs = [vm.start(command_of(vm, programs[index % len(programs)]))
            for index, vm in enumerate(group)]
    follower = Follower(jobs, args.quiet)
    try:
        while any(job.poll() is None for job in jobs):
            follower.copy()
            if time.monotonic() - began > args.timeout:
                raise VmTimeout('the programs have not ended after %g s' % args.timeout)
            time.sleep(0.03)
    except VmError:
        follower.copy(last=True)
        for vm in group:
            print(vm.last_words(), file=sys.stderr)
        raise
    follower.copy(last=True)
    first = [job.started - vm.began for job, vm in zip(jobs, group)]
    say('first line after %s s, programs took %.1f s, exit codes %s' % (
        ', '.join('%.1f' % seconds for seconds in first),
        time.monotonic() - began, ' '.join(str(job.rc) for job in jobs)))
    return next((job.rc for job in jobs if job.rc), 0)


def run_shell(group):
    """Hand the terminal to VM 1."""
    first = group[0]
    for vm in group[1:]:
        say('%s runs; its folder is %s' % (vm.name, vm.dir))
    path = first.sockets + '/console'
    with open(first.share + '/go.tmp', 'w', encoding='ascii') as file:
        file.write(console.terminal_line())
    os.rename(first.share + '/go.tmp', first.share + '/go')
    if console.attach(path) == 'detached':
        say('detached; ending the VMs')
    return 0


def run(args, programs):
    """Start the VMs and do what was asked."""
    count = args.count or max(1, len(programs))
    if len(programs) > 1 and count != len(programs):
        raise VmError('%d programs for %d VMs' % (len(programs), count))
    group = VmGroup(make_options(args, count))
    try:
        group.start()
        say('%d VM(s) ready after %.1f s (up after %s s), logs in %s' % (
            count, group.seconds_ready,
            ', '.join('%.1f' % vm.seconds_up for vm in group),
            os.path.relpath(group.out)))
        code = run_shell(group) if args.shell else run_programs(group, programs, args)
        if not args.shell:
            group.assert_clean()
        return code
    except KernelComplaint as error:
        say(str(error))
        return code or COMPLAINT
    finally:
        group.stop()


def main():
    """Entry point."""
    words, programs = split_programs(sys.argv[1:])
    parser = arguments()
    args = parser.parse_args(words)
    if args.attach:
        console.attach(args.attach)
        return 0
    if bool(programs) == args.shell:
        parser.error('name a program to run, or --shell')
    # A signal must run the clean-up, as Ctrl-C does.
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    signal.signal(signal.SIGHUP, lambda number, frame: sys.exit(128 + number))
    try:
        return run(args, programs)
    except VmTimeout as error:
        say(str(error))
        return TIMEOUT
    except VmDied as error:
        say(str(error))
        return DIED
    except VmError as error:
        say(str(error))
        return 1
    except KeyboardInterrupt:
        return 130
