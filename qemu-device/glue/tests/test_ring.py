# SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB)
"""The frame ring and posted register writes, alone, under sanitizers."""
import pathlib
import subprocess

import pytest

HERE = pathlib.Path(__file__).parent


@pytest.mark.parametrize('sanitizer', ['thread', 'address,undefined'])
@pytest.mark.parametrize('name', ['ring', 'posted'])
def test_alone(tmp_path, name, sanitizer):
    program = tmp_path / name
    subprocess.run(['gcc', '-std=gnu11', '-O1', '-g', '-Wall', '-Wextra',
                    '-Werror', f'-fsanitize={sanitizer}', '-pthread',
                    HERE / f'{name}_test.c', HERE.parent / f'vcx_{name}.c',
                    '-o', program], check=True, timeout=60)
    subprocess.run([program], check=True, timeout=60)
