# SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB)
"""A client for QEMU's control socket (QMP)."""
import json
import socket
import time

from .errors import VmDied, VmError, VmTimeout


class Qmp:
    """One connection; commands are answered in order."""

    def __init__(self, path, timeout=10):
        self.events = []
        self.timeout = timeout
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.settimeout(timeout)
        self.socket.connect(path)
        self.file = self.socket.makefile('rb')
        self._read()                            # the greeting
        self.command('qmp_capabilities')

    def _read(self):
        try:
            line = self.file.readline()
        except OSError as error:
            raise VmTimeout('no answer on the QMP socket after %d s'
                            % self.timeout) from error
        if not line:
            raise VmDied('QEMU closed its QMP socket')
        return json.loads(line)

    def command(self, name, **arguments):
        """Run a QMP command; its return value, or VmError with QEMU's words."""
        request = {'execute': name}
        if arguments:
            request['arguments'] = {key.replace('_', '-'): value
                                    for key, value in arguments.items()}
        try:
            self.socket.sendall(json.dumps(request).encode() + b'\n')
        except OSError as error:
            raise VmDied('QEMU closed its QMP socket') from error
        while True:
            answer = self._read()
            if 'event' in answer:
                self.events.append(answer)
            elif 'error' in answer:
                raise VmError('QMP %s: %s' % (name, answer['error']['desc']))
            else:
                return answer['return']

    def monitor(self, line):
        """Run a line of the human monitor; what it prints."""
        return self.command('human-monitor-command', command_line=line)

    def wait_event(self, name, timeout=10):
        """The next event of that name, also one that has already arrived."""
        end = time.monotonic() + timeout
        while True:
            for event in self.events:
                if event['event'] == name:
                    self.events.remove(event)
                    return event
            if time.monotonic() > end:
                raise VmTimeout('no QMP event %s after %d s' % (name, timeout))
            self.command('query-status')        # events come before its answer
            time.sleep(0.05)

    def close(self):
        """Hang up."""
        self.file.close()
        self.socket.close()
