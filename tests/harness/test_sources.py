# SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB)
"""The mirror is found in each form in which apt is told about it."""
import os
import subprocess

import pytest

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))

DEB822 = '''\
Types: deb deb-src
# a comment
URIs: http://mirror.example/debian
Suites: bookworm bookworm-updates
Components: main contrib
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg

Types: deb
URIs: http://mirror.example/debian-security
Suites: bookworm-security
Components: main
Signed-By: /usr/share/keyrings/debian-archive-bookworm-security-automatic.gpg
'''
DISABLED = 'Enabled: no\nTypes: deb\nURIs: http://no.example/debian\n' \
           'Suites: bookworm\nComponents: main\n'
INLINE_KEY = 'Types: deb\nURIs: https://own.example/debian\nSuites: trixie\n' \
             'Components: main\nSigned-By:\n -----BEGIN PGP PUBLIC KEY BLOCK-----\n .\n abc\n'
THIRD_PARTY = 'deb https://other.example/apt bookworm main\n'


@pytest.fixture(name='sources')
def sources_fixture(tmp_path):
    """A function that runs debian-sources with files of an invented host."""
    def run(suite, **files):
        parts = tmp_path / 'sources.list.d'
        parts.mkdir()
        for name, text in files.items():
            stem, kind = name.rsplit('_', 1)
            path = tmp_path / 'sources.list' if stem == 'main' else parts / (stem + '.' + kind)
            path.write_text(text)
        conf = tmp_path / 'apt.conf'
        conf.write_text('Dir::Etc::sourcelist "%s/sources.list";\n'
                        'Dir::Etc::sourceparts "%s/sources.list.d";\n' % (tmp_path, tmp_path))
        return subprocess.run([TOP + '/scripts/lib/debian-sources', suite], text=True,
                              check=False, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              env={**os.environ, 'APT_CONFIG': str(conf)})
    return run


def test_deb822_with_security(sources):
    """The suite is replaced in both; a key of one release is not kept."""
    out = sources('trixie', debian_sources=DEB822).stdout
    assert 'URIs: http://mirror.example/debian\nSuites: trixie\n' in out
    assert 'URIs: http://mirror.example/debian-security\nSuites: trixie-security\n' in out
    assert out.count('Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg') == 2
    assert 'bookworm' not in out


def test_one_line_with_options(sources):
    """Options in brackets go with the address."""
    line = 'deb [arch=amd64 signed-by=/k.gpg trusted=yes] https://m.example/debian trixie main\n'
    out = sources('bookworm', main_list=line).stdout
    assert 'URIs: https://m.example/debian\nSuites: bookworm\n' in out
    assert 'Signed-By: /k.gpg' in out and 'Trusted: yes' in out
    assert 'security' not in out


def test_a_local_mirror_is_copied(sources):
    """dpkg in a new root cannot see the host's files."""
    out = sources('trixie', main_list='deb file:/srv/debian bookworm main\n').stdout
    assert 'URIs: copy:/srv/debian\n' in out


def test_a_key_in_the_file_is_kept(sources):
    """A multi-line field."""
    out = sources('bookworm', debian_sources=INLINE_KEY).stdout
    assert '\n -----BEGIN PGP PUBLIC KEY BLOCK-----\n .\n abc\n' in out


def test_disabled_and_foreign_entries_are_not_taken(sources):
    """Others may use Debian's suite names."""
    out = sources('trixie', a_list=THIRD_PARTY, b_sources=DISABLED, debian_sources=DEB822).stdout
    assert 'mirror.example' in out and 'other.example' not in out and 'no.example' not in out


def test_no_debian_is_said(sources):
    """One plain sentence, and an error."""
    run = sources('trixie', main_list='# nothing\n')
    assert run.returncode != 0
    assert run.stderr == 'debian-sources: no Debian archive in the apt sources of this host\n'
