# SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB)
"""The frame ring between the core and a netdev, alone, under sanitizers."""
import pathlib
import subprocess

import pytest

HERE = pathlib.Path(__file__).parent


@pytest.mark.parametrize('sanitizer', ['thread', 'address,undefined'])
def test_ring(tmp_path, sanitizer):
    program = tmp_path / 'ring_test'
    subprocess.run(['gcc', '-std=gnu11', '-O1', '-g', '-Wall', '-Wextra',
                    '-Werror', f'-fsanitize={sanitizer}', '-pthread',
                    HERE / 'ring_test.c', HERE.parent / 'vcx_ring.c',
                    '-o', program], check=True, timeout=60)
    subprocess.run([program], check=True, timeout=60)
