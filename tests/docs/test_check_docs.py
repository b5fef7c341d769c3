# SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB)
"""The documents agree with the tree; and scripts/check-docs, which says so, finds
what it should in a small tree of its own."""
import os
import re
import subprocess

import pytest

from doclib import checks

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))

SOURCES = {
    'Makefile': 'VMS ?= 1\nall:\n\tscripts/build\nclean:\n',
    'scripts/build': '#!/bin/sh\ncase $1 in --san) ;; esac\n',
    'include/vcx/a.h': '''
        struct vcx_eqc { vcx_be32 dw[4]; };
        #define VCX_EQC_SIZE  VCX_FIELD(vcx_eqc, 0x0c, 28, 24)
        #define VCX_EQC_ADDR  VCX_FIELD64(vcx_eqc, 0x08)
        #define VCX_BIT       (1u << 4)
        enum vcx_type { VCX_TYPE_A = 0x02, };
        enum vcx_cmd_opcode { VCX_CMD_INIT_HCA = 0x102, };
''' + '\nstruct vcx_entry {\n\t__u8 type;\n\t__u8 rsvd_1[3];\n\tvcx_be32 number;\n};\n',
    'include/vcx/cqe.h': 'enum x {\n\tVCX_VENDOR_NONE = 0x00,\n};\n',
    'include/vcx/syndrome.h': 'enum y {\n\tVCX_REFUSED_OPCODE =\n\t\t3,\n};\n',
    'qemu-device/core/engine.cc': 'class Engine { void Run(); };\n',
    'qemu-device/core/cmd/dispatch.cc':
        'Entry<InitHca>::Make(VCX_CMD_INIT_HCA, "INIT_HCA", kBeforeInit)\n',
    'qemu-device/core/cmd/handlers.h':
        'CmdVerdict InitHca(Firmware& fw, const vcx_in& in, const Call& call,\n  vcx_out& out);\n',
    'qemu-device/core/device.cc': '{"objects_qp", 0}\n',
    'qemu-device/core/stats/counters.cc': 'case kA: return "packets_sent";\nreturn "unknown";\n',
    'qemu-device/glue/vcx_pci.h': '#define VCX_MAX_VECTORS 2048\n',
    'qemu-device/glue/vcx_props.c':
        '{ "max-qp", "max_qp", offsetof(VcxState, config.max_qp),\n  1, 1u << 4, false, "" },\n',
    'qemu-device/glue/trace-events': 'vcx_reset(const char *reason) "%s"\n',
    'tests/levels/10-tree': '#!/bin/sh\n',
}
DOCUMENTS = {
    'README.md': '`make all`, `scripts/build --san`, `include/vcx`\n',
    'Documentation/guide.rst': '''
Guide
=====

``INIT_HCA``, ``vcx_reset``, ``VCX_REFUSED_OPCODE``, ``VCX_VENDOR_NONE``, ``VCX_TYPE_*``

================  ====  ======
Field             Byte  Bits
================  ====  ======
``VCX_EQC_SIZE``  0x0c  28..24
``VCX_EQC_ADDR``  0x08  63..0
================  ====  ======

==============  =====
Name            Value
==============  =====
``VCX_TYPE_A``  0x02
``VCX_BIT``     16
==============  =====

.. structure vcx_entry

==========  ====  =====
Member      Byte  Bytes
==========  ====  =====
``type``    0x00  1
``number``  0x04  4
==========  ====  =====

============  ======  ======  ==========  ===========
Command       Opcode  States  Input       Output
============  ======  ======  ==========  ===========
``INIT_HCA``  0x102   E       ``vcx_in``  ``vcx_out``
============  ======  ======  ==========  ===========
''',
    'Documentation/counters.rst': '``packets_sent`` one\n``objects_qp`` two\n',
    'Documentation/device-properties.rst':
        '``netdev=``, ``mac=``\n\n=========== ======= =\n``max-qp=`` 1 to 16 x\n',
    'Documentation/testing.rst': '``10-tree``\n',
}


@pytest.fixture(name='findings')
def findings_fixture(tmp_path):
    """A function: makes the small tree, with changes, and runs a check on it."""
    def run(check, **changes):
        for name, text in {**SOURCES, **DOCUMENTS}.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            key = re.sub(r'[.-]', '_', os.path.basename(name))
            path.write_text(changes.get(key, lambda same: same)(text))
        return list(checks.CHECKS[check](checks.Tree(str(tmp_path))))
    return run


def add(line):
    """A change: one more paragraph."""
    return lambda text: text + '\n' + line + '\n'


def swap(old, new):
    """A change: other words."""
    def change(text):
        assert old in text
        return text.replace(old, new)
    return change


@pytest.mark.parametrize('check', checks.CHECKS)
def test_the_documents_agree_with_the_tree(check):
    """What this level is for."""
    run = subprocess.run([TOP + '/scripts/check-docs', check], check=False,
                         stdout=subprocess.PIPE, text=True)
    assert run.returncode == 0, run.stdout
    skipped = [line for line in run.stdout.splitlines() if line.startswith('skipped')]
    if skipped:
        pytest.skip(skipped[0])


@pytest.mark.parametrize('check', ['names', 'tables', 'complete'])
def test_nothing_is_found_where_all_is_right(findings, check):
    """The small tree is in order."""
    assert not findings(check)


@pytest.mark.parametrize('literal, sentence', [
    ('make none', 'make has no target none'),
    ('make all CPUS=2', 'make has no variable CPUS'),
    ('scripts/none', 'there is no scripts/none'),
    ('scripts/build --fast', 'scripts/build has no option --fast'),
    ('include/vcx/b.h', 'there is no file include/vcx/b.h'),
    ('core/{engine,motor}.cc', 'there is no file core/motor.cc'),
    ('motor.cc', 'there is no file motor.cc'),
    ('Engine::Stop()', 'there is no Engine::Stop()'),
    ('struct vcx_none', 'there is no struct vcx_none'),
    ('VCX_NONE_*', 'nothing begins with VCX_NONE_'),
    ('max-cq', 'there is no max-cq'),
    ('bytes_sent', 'there is no bytes_sent'),
    ('qemu -device vcx,max-cq=1', 'the device has no property max-cq'),
    ('call vcx_none now', 'there is no vcx_none'),
])
def test_a_name_that_does_not_exist_is_found(findings, literal, sentence):
    """With the line where it stands, in both kinds of documents."""
    assert findings('names', guide_rst=add('``%s``' % literal)) == [
        'Documentation/guide.rst:36: ' + sentence]
    assert findings('names', README_md=add('`%s`' % literal)) == ['README.md:3: ' + sentence]


@pytest.mark.parametrize('literal', [
    'make all VMS=2', 'scripts/build --san', 'include/vcx/*.h', 'core/engine.cc', 'a.h',
    'Engine::Run()', 'class Engine', 'VCX_EQC_*', 'max-qp', '-device vcx,max-qp=1', '0x10',
    'build/device/vcx.so', '-trace'])
def test_a_name_that_exists_is_accepted(findings, literal):
    """And what is no name of ours."""
    assert not findings('names', guide_rst=add('``%s``' % literal))


def test_literals_may_be_broken_and_roles_are_not_looked_at(findings):
    """A literal over two lines is one; :code: is for names of others."""
    assert findings('names', guide_rst=add('``make\nnone`` and :code:`ibv_none()`')) == [
        'Documentation/guide.rst:36: make has no target none']


def test_commands_in_literal_blocks_are_looked_at(findings):
    """Only lines that are make or a script of ours."""
    block = '::\n\n    $ make none\n    vcx_none\n    scripts/build --fast  # why\n'
    assert [line.partition(': ')[2] for line in findings('names', guide_rst=add(block))] == [
        'make has no target none', 'scripts/build has no option --fast']
    fence = '```\nmake none\n```'
    assert findings('names', README_md=add(fence)) == ['README.md:4: make has no target none']


def test_a_link_to_nowhere_is_found(findings):
    """Links are relative to their document."""
    assert findings('names', guide_rst=add('`Here <counters.rst>`__, `there <none.rst>`__')) == [
        'Documentation/guide.rst:36: there is no none.rst']


@pytest.mark.parametrize('old, new, sentence', [
    ('0x0c  28..24', '0x0c  27..24', 'guide.rst:10: VCX_EQC_SIZE is at 0x0c, bits 28..24'),
    ('0x08  63..0', '0x0c  63..0', 'guide.rst:11: VCX_EQC_ADDR is at 0x08, bits 63..0'),
    ('0x02', '0x03', 'guide.rst:17: VCX_TYPE_A is 2'),
    ('16', '32', 'guide.rst:18: VCX_BIT is 16'),
    ('``VCX_BIT`` ', '``VCX_BYTE``', 'guide.rst:18: VCX_BYTE is not a constant'),
    ('0x04  4', '0x04  2', 'guide.rst:27: vcx_entry.number is at (4, 4)'),
    ('``number``', '``length``', 'guide.rst:27: vcx_entry.length is at no place at all'),
    ('0x102   E ', '0x103   E ', 'guide.rst:33: INIT_HCA is 0x102 E vcx_in vcx_out'),
    ('0x102   E ', '0x102   EI', 'guide.rst:33: INIT_HCA is 0x102 E vcx_in vcx_out'),
    ('``vcx_in``', '``vcx_no``', 'guide.rst:33: INIT_HCA is 0x102 E vcx_in vcx_out'),
    ('``INIT_HCA``  0', '``INIT_NIC``  0', 'guide.rst:33: INIT_NIC is not a command'),
    ('``type``  ', '``number``', 'guide.rst:21: vcx_entry.type is missing'),
    ('structure vcx_entry', 'structure vcx_none', 'guide.rst:21: there is no struct vcx_none'),
])
def test_a_table_that_is_wrong_is_found(findings, old, new, sentence):
    """Places, values and members."""
    assert 'Documentation/' + sentence in findings('tables', guide_rst=swap(old, new))


@pytest.mark.parametrize('old, sentence', [
    ('``VCX_EQC_SIZE``  0x0c', 'VCX_EQC_SIZE is in no table'),
    ('``VCX_TYPE_A``  0x02', 'VCX_TYPE_A is in no document'),
    ('``INIT_HCA``  0x102', 'VCX_CMD_INIT_HCA is in no document'),
    ('.. structure vcx_entry', 'struct vcx_entry is in no table'),
])
def test_what_no_table_has_is_found(findings, old, sentence):
    """Fields and values of enumerations."""
    assert 'include/vcx: ' + sentence in findings('tables', guide_rst=swap(old, 'nothing'))


@pytest.mark.parametrize('document, old, sentence', [
    ('counters_rst', '``packets_sent``', 'counters.rst: the counter packets_sent is missing'),
    ('counters_rst', '``objects_qp``', 'counters.rst: the counter objects_qp is missing'),
    ('device_properties_rst', '``mac=``', 'the property mac is missing'),
    ('device_properties_rst', '``max-qp=`` 1 to 16',
     'device-properties.rst: the limits of max-qp are missing'),
    ('guide_rst', '``INIT_HCA``', 'the command INIT_HCA is missing'),
    ('guide_rst', '``VCX_REFUSED_OPCODE``', 'the refusal VCX_REFUSED_OPCODE is missing'),
    ('guide_rst', '``VCX_VENDOR_NONE``', 'the vendor syndrome VCX_VENDOR_NONE is missing'),
    ('guide_rst', '``vcx_reset``', 'the trace event vcx_reset is missing'),
    ('testing_rst', '``10-tree``', 'testing.rst: the level tests/levels/10-tree is missing'),
])
def test_what_the_documents_lack_is_found(findings, document, old, sentence):
    """Whatever the code has must be somewhere."""
    assert any(line.endswith(sentence)
               for line in findings('complete', **{document: swap(old, 'nothing')}))


def test_counters_and_limits_that_are_not_so_are_found(findings):
    """The other direction."""
    assert findings('complete', counters_rst=add('``bytes_sent`` three')) == [
        'Documentation/counters.rst: there is no counter bytes_sent']
    assert findings('complete', device_properties_rst=swap('1 to 16', '1 to 17')) == [
        'Documentation/device-properties.rst:4: the limits of max-qp are (1, 16)']


def test_code_that_is_not_understood_is_found(findings):
    """Otherwise a moved table would switch the check off."""
    found = findings('complete', trace_events=swap('vcx_reset', 'reset'))
    assert 'check-docs: no trace event found in qemu-device/glue/trace-events' in found


def test_wrong_markup_is_found(findings):
    """By docutils."""
    pytest.importorskip('docutils')
    assert any('guide.rst:36: Unknown interpreted text role "none"' in line
               for line in findings('syntax', guide_rst=add(':none:`x`')))
