# SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB)
"""A QEMU without a guest, driven from outside.

The installed binary is started with the device loaded and with firmware that
halts the CPU at once, so that nothing but the test touches the machine. The
qtest protocol does what a CPU would (memory, I/O ports), QMP the rest.
"""
import json
import os
import pathlib
import shutil
import socket
import subprocess
import tempfile
import time

TOP = pathlib.Path(__file__).resolve().parents[3]
DEVICE = TOP / 'build' / ('device-san' if os.environ.get('VCX_SAN') else 'device')
INTREE = bool(os.environ.get('VCX_INTREE'))
TIME_LIMIT = 20  # seconds for anything; nothing here takes more than one


def qemu_binary():
    """The QEMU that the device was built for."""
    return os.environ.get('VCX_QEMU') or shutil.which('qemu-system-x86_64')


def qemu_command(*arguments):
    """How scripts/qemu-vcx starts it, with what every test wants."""
    command = [str(TOP / 'scripts' / 'qemu-vcx'), '--no-build']
    if os.environ.get('VCX_SAN'):
        command.append('--san')
    if INTREE:
        command.append('--intree')
    return command + ['-nodefaults', '-display', 'none', '-accel', 'tcg',
                      '-m', '64', *arguments]


def halting_firmware(path):
    """64 KiB whose reset vector is `cli; hlt; jmp` to the hlt."""
    rom = bytearray(b'\xf4' * 0x10000)
    rom[0xfff0:0xfff4] = b'\xfa\xf4\xeb\xfd'
    path.write_bytes(rom)


class Line:
    """A socket that carries lines."""

    def __init__(self, server):
        server.settimeout(TIME_LIMIT)
        self.socket, _ = server.accept()
        self.socket.settimeout(TIME_LIMIT)
        self.file = self.socket.makefile('rw', encoding='ascii', newline='\n')

    def send(self, text):
        self.file.write(text + '\n')
        self.file.flush()

    def receive(self):
        try:
            text = self.file.readline()
        except ConnectionResetError:
            text = ''
        if not text:
            raise EOFError('QEMU closed the connection')
        return text.strip()

    def close(self):
        self.file.close()
        self.socket.close()


class Machine:
    """with Machine('-M', 'q35', '-device', 'vcx') as m: ..."""

    def __init__(self, *arguments):
        self.arguments = arguments
        self.events = []
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix='vcx-qtest-'))
        self.log = self.folder / 'qemu.log'

    def __enter__(self):
        halting_firmware(self.folder / 'halt.rom')
        servers = {}
        for name in ('qtest', 'qmp'):
            servers[name] = socket.socket(socket.AF_UNIX)
            servers[name].bind(str(self.folder / name))
            servers[name].listen(1)
        with open(self.log, 'wb') as log:
            self.process = subprocess.Popen(qemu_command(
                '-bios', str(self.folder / 'halt.rom'),
                '-qtest', f'unix:{self.folder}/qtest', '-qtest-log', 'none',
                '-chardev', f'socket,id=qmp,path={self.folder}/qmp',
                '-mon', 'chardev=qmp,mode=control', *self.arguments),
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        try:
            self.qtest = Line(servers['qtest'])
            self.monitor = Line(servers['qmp'])
            self.monitor.receive()  # the greeting
            self.qmp('qmp_capabilities')
        except (TimeoutError, EOFError):
            self.process.kill()
            self.process.wait()
            raise AssertionError('QEMU did not start:\n' + self.output()) from None
        finally:
            for server in servers.values():
                server.close()
        return self

    def __exit__(self, kind, value, trace):
        """QEMU must end well: a sanitizer's finding makes it fail."""
        try:
            if kind is None:
                self.qmp('quit')
                code = self.process.wait(TIME_LIMIT)
                assert code == 0, f'QEMU ended with {code}:\n{self.output()}'
                # UndefinedBehaviorSanitizer reports and goes on.
                assert 'runtime error:' not in self.output(), self.output()
        except EOFError:
            code = self.process.wait(TIME_LIMIT)
            raise AssertionError(f'QEMU died with {code}:\n{self.output()}') from None
        finally:
            if self.process.poll() is None:
                self.process.kill()
                self.process.wait()
            self.qtest.close()
            self.monitor.close()
            if kind is not None:
                print(self.output())
            shutil.rmtree(self.folder)

    def output(self):
        """Everything QEMU has written, its trace events too."""
        return self.log.read_text(errors='replace')

    # QMP

    def qmp_raw(self, command, **arguments):
        """The whole reply."""
        self.monitor.send(json.dumps({'execute': command, 'arguments': arguments}))
        while True:
            message = json.loads(self.monitor.receive())
            if 'event' not in message:
                return message
            self.events.append(message)

    def qmp(self, command, **arguments):
        """What a command returns; an error fails the test."""
        reply = self.qmp_raw(command, **arguments)
        assert 'return' in reply, f'{command}: {reply}'
        return reply['return']

    def qmp_error(self, command, **arguments):
        """The sentence with which a command is refused."""
        reply = self.qmp_raw(command, **arguments)
        assert 'error' in reply, f'{command} was not refused: {reply}'
        return reply['error']['desc']

    def wait_event(self, name):
        """The first event of that name that has not been waited for."""
        deadline = time.monotonic() + TIME_LIMIT
        while time.monotonic() < deadline:
            for event in self.events:
                if event['event'] == name:
                    self.events.remove(event)
                    return event['data']
            message = json.loads(self.monitor.receive())
            assert 'event' in message
            self.events.append(message)
        raise AssertionError(f'no event {name}')

    def hmp(self, line):
        """A command of the human monitor."""
        return self.qmp('human-monitor-command', **{'command-line': line})

    def get(self, device, name):
        """A property of a device with an ID."""
        return self.qmp('qom-get', path=f'/machine/peripheral/{device}',
                        property=name)

    def counters(self, device):
        """All counters of a device as a dictionary."""
        return {name: int(value) for name, value in
                (line.split() for line in
                 self.get(device, 'counters').splitlines())}

    # qtest

    def cpu(self, command):
        """One access as the CPU would make it; the numbers of the answer."""
        self.qtest.send(command)
        while True:
            answer = self.qtest.receive().split()
            if answer[0] == 'IRQ':
                continue
            assert answer[0] == 'OK', f'{command}: {answer}'
            return answer[1:]

    def read(self, address, size):
        """A load of 1, 2, 4 or 8 bytes."""
        return int(self.cpu(f'read{" bw l   q"[size]} {address:#x}')[0], 16)

    def write(self, address, value, size):
        """A store of 1, 2, 4 or 8 bytes."""
        self.cpu(f'write{" bw l   q"[size]} {address:#x} {value:#x}')

    def load(self, address, size):
        """A piece of memory."""
        return bytes.fromhex(self.cpu(f'read {address:#x} {size}')[0][2:])

    def store(self, address, data):
        """Fill a piece of memory."""
        self.cpu(f'write {address:#x} {len(data)} 0x{data.hex()}')


def wait_until(what, condition):
    """Until the condition holds; returns its value."""
    deadline = time.monotonic() + TIME_LIMIT
    while time.monotonic() < deadline:
        value = condition()
        if value:
            return value
        time.sleep(0.01)
    raise AssertionError('waited in vain for ' + what)
