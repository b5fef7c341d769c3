/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What differs between the QEMU versions that the device builds with, 7.2 to
 * 10.2. Every source of the glue includes this first, nothing else in the glue
 * looks at a version.
 */
#ifndef VCX_QEMU_H
#define VCX_QEMU_H

#include "qemu/osdep.h"
#include "qapi/error.h"
#include "qapi/visitor.h"
#include "qemu/atomic.h"
#include "qemu/log.h"
#include "qemu/main-loop.h"
#include "qemu/rcu.h"
#include "qemu/thread.h"
#include "qemu/timer.h"
#include "qemu/uuid.h"
#include "qemu/guest-random.h"

#if __has_include("hw/pci/pci_device.h")
#include "hw/pci/pci_device.h"
#else
#include "hw/pci/pci.h"
#endif
#include "hw/pci/msix.h"
#include "hw/pci/pcie.h"

#if __has_include("hw/core/qdev-properties.h")
#include "hw/core/qdev-properties.h"
#else
#include "hw/qdev-properties.h"
#endif

#if __has_include("hw/core/boards.h")
#include "hw/core/boards.h"
#else
#include "hw/boards.h"
#endif

#if __has_include("system/memory.h")
#include "system/memory.h"
#include "system/address-spaces.h"
#else
#include "exec/memory.h"
#include "exec/address-spaces.h"
#endif

#if __has_include("system/runstate.h")
#include "system/runstate.h"
#include "system/system.h"
#else
#include "sysemu/runstate.h"
#include "sysemu/sysemu.h"
#endif

#include "migration/vmstate.h"
#include "net/net.h"

#define VCX_QEMU_AT_LEAST(major, minor)                                        \
    (QEMU_VERSION_MAJOR > (major) ||                                           \
     (QEMU_VERSION_MAJOR == (major) && QEMU_VERSION_MINOR >= (minor)))

/* Class data and interface lists became const in 10.1, properties in 10.0. */
#if VCX_QEMU_AT_LEAST(10, 1)
#define VCX_CLASS_CONST const
#else
#define VCX_CLASS_CONST
#endif

#if VCX_QEMU_AT_LEAST(10, 0)
#define VCX_PROPERTY_CONST const
#define VCX_END_OF_PROPERTIES
#else
#define VCX_PROPERTY_CONST
#define VCX_END_OF_PROPERTIES DEFINE_PROP_END_OF_LIST(),
#endif

#if !VCX_QEMU_AT_LEAST(9, 2)
static inline void device_class_set_legacy_reset(DeviceClass *dc,
                                                 void (*reset)(DeviceState *))
{
    dc->reset = reset;
}
#endif

/* The guard argument came with 8.1 and was ported back to 7.2.6. */
#if VCX_QEMU_AT_LEAST(8, 1) || \
    (QEMU_VERSION_MAJOR == 7 && QEMU_VERSION_MINOR == 2 && \
     QEMU_VERSION_MICRO >= 6)
#define VCX_NIC_GUARD(dev) &(dev)->mem_reentrancy_guard,
#else
#define VCX_NIC_GUARD(dev)
#endif

#endif /* VCX_QEMU_H */
