/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vcx-device.so: registers the device type in the QEMU that loaded vcx.so, which
 * has checked that it is the right one.
 *
 * QEMU loads plugins after it has read its command line and before it creates
 * the devices of it: -device vcx works, -device help does not list it, and the
 * patterns of -trace have been matched already. Trace events of the device can
 * be enabled with -plugin file=vcx.so,trace=PATTERN, or from the monitor.
 */
#include "../vcx_pci.h"
#include "qemu/error-report.h"
#include "trace/control.h"
#include "entry.h"

extern TraceEvent *hw_vcx_trace_events[];
void vcx_register_type(void);
vcx_device_load_fn vcx_device_load;

#define VCX_TRACE_ARGUMENT "trace="

/*
 * The build-id says which binary this is; this says that the headers used to
 * compile the device belong to it. QEMU's description of a PCI device for
 * migration has the offset of a member that lies behind all of DeviceState and
 * most of PCIDevice.
 */
static bool vcx_headers_fit(void)
{
    const VMStateField *field = vmstate_pci_device.fields;

    while (field->name && strcmp(field->name, "irq_state") != 0) {
        field++;
    }
    if (field->name && field->offset == offsetof(PCIDevice, irq_state)) {
        return true;
    }
    error_report("vcx: this device was compiled with headers that do not "
                 "belong to this QEMU; run scripts/build-device again");
    return false;
}

static bool vcx_arguments_are_known(int argc, char **argv)
{
    int i;

    for (i = 0; i < argc; i++) {
        if (!g_str_has_prefix(argv[i], VCX_TRACE_ARGUMENT)) {
            error_report("vcx: argument %s of -plugin is not known; there is "
                         "only trace=PATTERN", argv[i]);
            return false;
        }
    }
    return true;
}

__attribute__((visibility("default"))) int vcx_device_load(int argc,
                                                           char **argv)
{
    int i;

    if (!vcx_headers_fit() || !vcx_arguments_are_known(argc, argv)) {
        return -1;
    }
    if (object_class_by_name(TYPE_VCX)) {
        error_report("vcx: this QEMU has the device already");
        return -1;
    }
    trace_event_register_group(hw_vcx_trace_events);
    for (i = 0; i < argc; i++) {
        trace_enable_events(argv[i] + strlen(VCX_TRACE_ARGUMENT));
    }
    vcx_register_type();
    return 0;
}
