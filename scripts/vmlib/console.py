# SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB)
"""Joins this terminal and a VM's console."""
import os
import select
import shutil
import socket
import sys
import termios
import tty

DETACH = b'\x1d'        # Ctrl-]


def terminal_line():
    """What the guest's shell must know: rows, columns, type."""
    size = shutil.get_terminal_size((80, 24))
    return '%d %d %s\n' % (size.lines, size.columns, os.environ.get('TERM', 'vt100'))


def attach(path):
    """Copy between the terminal and the console's socket, until the VM powers
    off ('ended') or the user types Ctrl-] ('detached')."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.connect(path)
    stdin, stdout = sys.stdin.fileno(), sys.stdout.fileno()
    saved = termios.tcgetattr(stdin) if os.isatty(stdin) else None
    inputs = [connection, stdin]
    try:
        if saved:
            tty.setraw(stdin)
        while True:
            ready, _, _ = select.select(inputs, [], [])
            if connection in ready:
                data = connection.recv(4096)
                if not data:
                    return 'ended'
                os.write(stdout, data)
            if stdin in ready:
                data = os.read(stdin, 4096)
                if DETACH in data:
                    return 'detached'
                if data:
                    connection.sendall(data)
                else:
                    inputs.remove(stdin)        # input from a file has ended
    except ConnectionError:
        return 'ended'
    finally:
        if saved:
            termios.tcsetattr(stdin, termios.TCSADRAIN, saved)
        connection.close()
