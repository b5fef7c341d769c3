# SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB)
"""The host's end of scripts/guest/agent: commands that run in a guest.

A command is a shell script in the VM's host folder; its output goes to a file
there, so that the host has it even when the guest crashes. The virtio port
carries only "run", "start" and "exit" lines.
"""
import os
import shlex
import socket
import threading
import time
from collections import namedtuple

from .errors import VmDied, VmTimeout

Result = namedtuple('Result', 'rc out')


class Job:
    """A command in a guest, running or finished."""

    def __init__(self, agent, number, folder, text):
        self.agent, self.number, self.folder, self.text = agent, number, folder, text
        self.started = self.rc = None
        self.ended = threading.Event()

    def output(self):
        """What it has printed so far (standard output and error)."""
        try:
            with open(self.folder + '/out', 'rb') as file:
                return file.read().decode('utf-8', 'replace')
        except FileNotFoundError:
            return ''

    def poll(self):
        """The exit code, or None while it runs."""
        if not self.ended.is_set():
            self.agent.check()
        return self.rc

    def wait(self, timeout=60):
        """Wait for the end: Result(rc, out). Past the limit the command is
        killed and VmTimeout raised; when the VM dies, VmDied."""
        end = time.monotonic() + timeout
        while not self.ended.wait(0.2):
            self.agent.check()
            if time.monotonic() > end:
                self.kill('KILL')
                raise VmTimeout('%s: no end after %g s: %s\n%s' % (
                    self.agent.name, timeout, self.text, tail(self.output())))
        if self.rc is None:
            raise VmDied('%s died while running: %s\n%s' % (
                self.agent.name, self.text, tail(self.output())))
        return Result(self.rc, self.output())

    def wait_output(self, pattern, timeout=30):
        """Wait until the pattern (a compiled expression or a string) appears in
        the output; the match. VmTimeout when it does not, or ended without."""
        end = time.monotonic() + timeout
        while True:
            ended = self.poll() is not None
            text = self.output()
            at = (pattern in text) if isinstance(pattern, str) else pattern.search(text)
            if at:
                return at
            if ended or time.monotonic() > end:
                raise VmTimeout('%s: no %r in the output of: %s\n%s' % (
                    self.agent.name, pattern, self.text, tail(text)))
            time.sleep(0.05)

    def kill(self, signal='TERM'):
        """Signal the command and its children."""
        if not self.ended.is_set():
            self.agent.send('kill %d %s' % (self.number, signal))

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        if not self.ended.is_set():
            self.kill('KILL')


class Agent:
    """The connection to one guest's agent; a thread reads what it says."""

    def __init__(self, name, path, share, alive):
        self.name, self.share, self.alive = name, share, alive
        self.jobs, self.lock = {}, threading.Lock()
        self.ready = threading.Event()
        self.ready_at = None
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.connect(path)
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self):
        try:
            for line in self.socket.makefile('r', encoding='utf-8', errors='replace'):
                self._handle(line.split())
        except OSError:
            pass
        # Closed: the VM is gone. Who waits must learn it.
        with self.lock:
            jobs = list(self.jobs.values())
        for job in jobs:
            job.ended.set()

    def _handle(self, words):
        if words[:1] == ['hello']:
            self.ready_at = time.monotonic()
            self.ready.set()
            return
        job = self.jobs.get(int(words[1])) if len(words) > 1 else None
        if job and words[0] == 'start':
            job.started = time.monotonic()
        elif job and words[0] == 'exit':
            job.rc = int(words[2])
            job.ended.set()

    def send(self, line):
        """Send one line to the guest."""
        try:
            self.socket.sendall(line.encode() + b'\n')
        except OSError as error:
            raise VmDied(self.name + ' is gone') from error

    def check(self):
        """Raise VmDied when the VM has ended."""
        if not self.alive():
            raise VmDied(self.name + ' ended unexpectedly')

    def start(self, command, env=None, cwd=None):
        """Start a command: a string for /bin/sh, or a list of words."""
        self.check()
        text = command if isinstance(command, str) else shlex.join(command)
        with self.lock:
            number = len(self.jobs) + 1
            folder = '%s/jobs/%d' % (self.share, number)
            job = self.jobs[number] = Job(self, number, folder, text)
        os.makedirs(folder)
        lines = ['export %s=%s' % (name, shlex.quote(str(value)))
                 for name, value in (env or {}).items()]
        lines.append('cd %s || exit 126' % shlex.quote(cwd or '/root'))
        with open(folder + '/cmd', 'w', encoding='utf-8') as file:
            file.write('\n'.join(lines + [text]) + '\n')
        self.send('run %d' % number)
        return job

    def close(self):
        """Hang up."""
        try:
            self.socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.socket.close()


def tail(text, lines=40):
    """The last lines of a text."""
    return '\n'.join(text.splitlines()[-lines:])
