/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Between the two shared objects of the loadable device; uses nothing of QEMU. */
#ifndef VCX_ENTRY_H
#define VCX_ENTRY_H

#define VCX_DEVICE_FILE "vcx-device.so"
#define VCX_DEVICE_LOAD "vcx_device_load"

/*
 * Registers the device type. Arguments are those of -plugin after file=; known
 * is trace=PATTERN. Nonzero when it has said why it does not load.
 */
typedef int vcx_device_load_fn(int argc, char **argv);

#endif /* VCX_ENTRY_H */
