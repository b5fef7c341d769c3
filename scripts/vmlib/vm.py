# SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB)
"""One VM: a QEMU process, its folder, and the commands that run in it."""
import os
import shlex
import shutil
import signal
import subprocess
import time
from collections import namedtuple

from . import artifacts, kernlog
from .agent import Agent, tail
from .command import mac, qemu_command
from .errors import CommandFailed, KernelComplaint, VmDied, VmError, VmTimeout
from .options import TOP
from .qmp import Qmp

Share = namedtuple('Share', 'tag host guest writable')


class Vm:
    """A virtual machine. VmGroup makes, starts and stops it."""

    def __init__(self, options, number, out, sockets):
        self.options, self.number = options, number
        self.name = 'vm%d' % number
        self.address = '10.0.0.%d' % number
        self.dir = '%s/%s' % (out, self.name)
        self.sockets = '%s/%s' % (sockets, self.name)
        self.share = self.dir + '/share'        # /vm in the guest
        self.process = self.agent = self._qmp = self._error = None
        self.began = self.ended_by_us = None
        self.seconds_up = None
        self.allowed = list(options.allow_kernel)
        self._marks = 0
        self.shares = [Share('vm', self.share, None, True),
                       Share('pair', out + '/pair', '/pair', True)]
        for index, (host, guest, writable) in enumerate(options.shares):
            self.shares.append(Share('share%d' % index, os.path.realpath(host),
                                     guest, writable))

    # ---- life ----------------------------------------------------------------

    def prepare(self):
        """Fill the folder that the guest sees as /vm."""
        os.makedirs(self.sockets)
        os.makedirs(self.share + '/jobs')
        shutil.copytree(TOP + '/scripts/guest', self.share + '/guest')
        env = {'VM': self.number, 'VM_COUNT': self.options.count,
               'VM_SHELL': int(self.options.shell and self.number == 1) or '',
               **self.options.env}
        with open(self.share + '/env', 'w', encoding='utf-8') as file:
            for name, value in env.items():
                file.write('%s=%s\n' % (name, shlex.quote(str(value))))
        with open(self.share + '/mounts', 'w', encoding='utf-8') as file:
            for share in self.shares[1:]:
                file.write('%s %s %s\n' % (share.tag, share.guest,
                                           'rw' if share.writable else 'ro'))
        with open(self.share + '/nics', 'w', encoding='utf-8') as file:
            for wire in (0, 1):
                file.write('%s net%d 10.0.%d.%d/24\n'
                           % (mac(wire, self.number), wire, wire, self.number))
        artifacts.inject_driver(self.options, self.share + '/inject')

    def launch(self, image, wires, accel):
        """Start QEMU."""
        command = qemu_command(self.options, image, wires, self, accel)
        with open(self.dir + '/command', 'w', encoding='utf-8') as file:
            file.write(shlex.join(command) + '\n')
        self.began = time.monotonic()
        # QEMU must not outlive the thread that starts it, not even by SIGKILL.
        ends = [fd for wire in wires.values() for fd in wire.ends(self.number)]
        with open(self.dir + '/qemu.log', 'wb') as log:
            self.process = subprocess.Popen(
                ['setpriv', '--pdeathsig', 'KILL', '--', *command],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                start_new_session=True, pass_fds=ends)

    def connect(self):
        """Connect to the agent's socket, once QEMU has made it."""
        path = self.sockets + '/agent'
        while not os.path.exists(path):
            self._must_live('starting')
            if time.monotonic() - self.began > self.options.boot_timeout:
                raise VmTimeout('%s: QEMU made no sockets within %g s\n%s' % (
                    self.name, self.options.boot_timeout, self.last_words()))
            time.sleep(0.01)
        self.agent = Agent(self.name, path, self.share, self.alive)

    def wait_up(self):
        """Wait until the guest's agent says hello."""
        limit = self.options.boot_timeout
        while not self.agent.ready.wait(0.1):
            self._must_live('booting')
            if time.monotonic() - self.began > limit:
                raise VmTimeout('%s: not up after %g s\n%s'
                                % (self.name, limit, self.last_words()))
        self.seconds_up = self.agent.ready_at - self.began

    def load_driver(self):
        """Load the driver that the options name."""
        if self.options.driver != 'none':
            parameters = shlex.split(self.options.driver_params)
            self.check(['/vm/guest/load-driver', self.options.driver, *parameters],
                       timeout=self.options.boot_timeout)
        if self.options.rxe:
            self.check(['/vm/guest/load-driver', 'rxe'], timeout=self.options.boot_timeout)

    def alive(self):
        """Does its QEMU process run?"""
        return self.process is not None and self.process.poll() is None

    def stop(self, timeout=5):
        """Power off; end QEMU when that takes too long. Safe to repeat."""
        if self.process is None:
            return
        self.ended_by_us = True
        if self.alive() and self.agent and self.agent.ready.is_set():
            try:
                self.agent.send('off')
                self.process.wait(timeout)
            except (VmError, subprocess.TimeoutExpired):
                pass
        self.kill()

    def kill(self):
        """End QEMU, and what its wrapper may have started, at once."""
        if self.process is None:
            return
        self.ended_by_us = True
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        for connection in (self.agent, self._qmp):
            if connection:
                connection.close()

    def _must_live(self, doing):
        if not self.alive():
            raise VmDied('%s ended while %s\n%s' % (self.name, doing, self.last_words()))

    # ---- commands --------------------------------------------------------------

    def start(self, command, env=None, cwd=None):
        """Start a command in the background: a Job."""
        return self.agent.start(command, env, cwd)

    def run(self, command, timeout=60, env=None, cwd=None):
        """Run a command, a string for sh or a list of words: (rc, out)."""
        try:
            return self.start(command, env, cwd).wait(timeout)
        except (VmDied, VmTimeout) as error:
            raise type(error)('%s\n%s' % (error, self.last_words())) from None

    def check(self, command, timeout=60, env=None, cwd=None):
        """Run a command that must succeed; its output."""
        rc, out = self.run(command, timeout, env, cwd)
        if rc != 0:
            raise CommandFailed('%s: exit code %d from: %s\n%s\n%s' % (
                self.name, rc, command if isinstance(command, str) else shlex.join(command),
                tail(out), self.last_words()))
        return out

    def qmp(self, name, **arguments):
        """Run a QMP command (underscores in argument names become dashes)."""
        return self.qmp_client().command(name, **arguments)

    def qmp_client(self):
        """The QMP connection, opened when first used."""
        if self._qmp is None:
            self._qmp = Qmp(self.sockets + '/qmp')
        return self._qmp

    # ---- logs -------------------------------------------------------------------

    def _read(self, path):
        try:
            with open(path, 'rb') as file:
                return file.read().decode('utf-8', 'replace')
        except FileNotFoundError:
            return ''

    def console(self):
        """What the guest printed on its console."""
        return self._read(self.dir + '/console.log').replace('\r', '')

    def _sync_log(self):
        """Wait until the host has what the kernel has logged up to now."""
        self._marks += 1
        mark = 'vcx-harness-mark-%d-' % self._marks
        try:
            self.agent.send('mark ' + mark)
        except VmDied:              # while we were asking
            return
        end = time.monotonic() + 5
        while mark not in self._read(self.share + '/kmsg') and time.monotonic() < end:
            if not self.alive():
                return
            time.sleep(0.02)

    def kernel_log(self):
        """The guest's kernel log, all of it; with a dead guest, what arrived,
        and then what is on the console only (a panic's last words)."""
        if self.alive() and self.agent and self.agent.ready.is_set():
            self._sync_log()
        lines = [line for line in kernlog.from_kmsg(self._read(self.share + '/kmsg'))
                 if 'vcx-harness-mark-' not in line]
        seen = {kernlog.same_text(line) for line in lines}
        lines += [line for line in self.console().splitlines()
                  if kernlog.TIME.match(line) and kernlog.same_text(line) not in seen]
        return '\n'.join(lines)

    def kernel_complaints(self):
        """Excerpts of the kernel log that must not be there."""
        return kernlog.complaints(self.kernel_log().splitlines(), self.allowed)

    def qemu_log(self):
        """What QEMU has said."""
        return self._read(self.dir + '/qemu.log')

    def device_complaints(self):
        """Reports of sanitizers in QEMU's messages."""
        return kernlog.sanitizer_reports(self.qemu_log().splitlines())

    def allow_kernel(self, pattern):
        """Permit kernel messages that match, from now on: for tests that
        provoke them."""
        self.allowed.append(pattern)

    def assert_kernel_clean(self):
        """Raise KernelComplaint when the kernel has complained."""
        found = self.kernel_complaints()
        if found:
            raise KernelComplaint('%s: its kernel complained %d time(s)\n%s' % (
                self.name, len(found), '\n...\n'.join(found)))

    def last_words(self):
        """The ends of QEMU's messages and of the console, for error reports."""
        parts = []
        for title, text in (('QEMU', self.qemu_log()),
                            ('console', self.console())):
            if text.strip():
                parts.append('--- end of the %s log of %s\n%s'
                             % (title, self.name, kernlog.last_words(text)))
        return '\n'.join(parts)
