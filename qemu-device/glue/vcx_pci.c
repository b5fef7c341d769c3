/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The QOM type and the PCI function: configuration space, BARs, MSI-X, reset,
 * plug and unplug. vcx_pci.h describes the threads and locks.
 */
#include "vcx_pci.h"
#include "qemu/module.h"

#define VCX_DSN_OFFSET PCI_CONFIG_SPACE_SIZE /* first extended capability */

static uint64_t vcx_register_read(void *opaque, hwaddr offset, unsigned size)
{
    VcxState *s = opaque;
    uint64_t value;

    /*
     * A vCPU that had looked up the BAR and then waited for the BQL may come
     * here after the device was unplugged.
     */
    if (!s->core) {
        return UINT64_MAX;
    }
    vcx_lock(s);
    value = vcx_core_bar_read(s->core, offset, size);
    vcx_unlock(s);
    return value;
}

static void vcx_register_write(void *opaque, hwaddr offset, uint64_t value,
                               unsigned size)
{
    VcxState *s = opaque;

    if (s->core) {
        vcx_write_register(s, offset, value, size);
    }
}

static const MemoryRegionOps vcx_register_ops = {
    .read = vcx_register_read,
    .write = vcx_register_write,
    .endianness = DEVICE_LITTLE_ENDIAN,
    .valid = { .min_access_size = 1, .max_access_size = 8 },
    .impl = { .min_access_size = 1, .max_access_size = 8 },
};

static void vcx_update_bus_master(VcxState *s)
{
    uint16_t command = pci_get_word(PCI_DEVICE(s)->config + PCI_COMMAND);
    bool enabled = command & PCI_COMMAND_MASTER;

    if (!s->core) {
        return;
    }
    vcx_lock(s);
    if (enabled) {
        vcx_thread_choose_place(s);
    }
    vcx_core_set_bus_master(s->core, enabled);
    vcx_unlock(s);
}

static void vcx_config_write(PCIDevice *pci, uint32_t addr, uint32_t value,
                             int len)
{
    VcxState *s = VCX(pci);

    pci_default_write_config(pci, addr, value, len);
    s->reset_reason = VCX_RESET_FUNCTION;
    pcie_cap_flr_write_config(pci, addr, value, len);
    s->reset_reason = VCX_RESET_SYSTEM;
    if (ranges_overlap(addr, len, PCI_COMMAND, 2) ||
        ranges_overlap(addr, len, pci->exp.exp_cap + PCI_EXP_DEVCTL, 2)) {
        vcx_update_bus_master(s);
    }
}

/*
 * Machine reset, bus reset and FLR. When the lock is dropped the core has
 * forgotten everything, so the device thread finds nothing to do; frames and
 * interrupts that were on their way are dropped here. PCI code of QEMU clears
 * the command register, with Bus Master Enable in it, next.
 */
static void vcx_reset(DeviceState *dev)
{
    VcxState *s = VCX(dev);

    if (!s->core) {
        return;
    }
    vcx_trace_refresh(s);
    vcx_lock(s);
    vcx_core_set_bus_master(s->core, false);
    vcx_core_reset(s->core, s->reset_reason);
    vcx_host_forget(s);
    vcx_net_forget(s);
    vcx_net_report_link(s);
    vcx_unlock(s);
}

static void vcx_run_state_changed(void *opaque, bool running, RunState state)
{
    VcxState *s = opaque;

    vcx_lock(s);
    s->running = running;
    if (running && s->thread.work) {
        vcx_thread_kick(s);
    }
    vcx_unlock(s);
    if (running) {
        vcx_net_resume(s);
    }
}

/* What the capability of QEMU says by default is 2.5 GT/s, one lane. */
static void vcx_set_link_speed(PCIDevice *pci)
{
    uint8_t *cap = pci->config + pci->exp.exp_cap;

    pci_long_test_and_clear_mask(cap + PCI_EXP_LNKCAP,
                                 PCI_EXP_LNKCAP_MLW | PCI_EXP_LNKCAP_SLS);
    pci_long_test_and_set_mask(cap + PCI_EXP_LNKCAP,
                               QEMU_PCI_EXP_LNKCAP_MLW(QEMU_PCI_EXP_LNK_X16) |
                               QEMU_PCI_EXP_LNKCAP_MLS(QEMU_PCI_EXP_LNK_16GT));
    pci_word_test_and_clear_mask(cap + PCI_EXP_LNKSTA,
                                 PCI_EXP_LNKSTA_NLW | PCI_EXP_LNKSTA_CLS);
    pci_word_test_and_set_mask(cap + PCI_EXP_LNKSTA,
                               QEMU_PCI_EXP_LNKSTA_NLW(QEMU_PCI_EXP_LNK_X16) |
                               QEMU_PCI_EXP_LNKSTA_CLS(QEMU_PCI_EXP_LNK_16GT));
    pci_long_test_and_set_mask(cap + PCI_EXP_LNKCAP2,
                               PCI_EXP_LNKCAP2_SLS_2_5GB |
                               PCI_EXP_LNKCAP2_SLS_5_0GB |
                               PCI_EXP_LNKCAP2_SLS_8_0GB |
                               PCI_EXP_LNKCAP2_SLS_16_0GB);
}

static bool vcx_config_space_init(VcxState *s, Error **errp)
{
    PCIDevice *pci = PCI_DEVICE(s);

    pci_config_set_vendor_id(pci->config, s->vendor_id);
    pci_config_set_device_id(pci->config, s->device_id);
    pci_set_word(pci->config + PCI_SUBSYSTEM_VENDOR_ID, s->subsystem_vendor_id);
    pci_set_word(pci->config + PCI_SUBSYSTEM_ID, s->subsystem_id);
    pci_config_set_interrupt_pin(pci->config, 0); /* MSI-X only */

    if (pcie_endpoint_cap_init(pci, 0) < 0) {
        error_setg(errp, "no room for the PCI Express capability");
        return false;
    }
    vcx_set_link_speed(pci);
    pcie_cap_flr_init(pci);
    pcie_dev_ser_num_init(pci, VCX_DSN_OFFSET, s->config.guid);
    return true;
}

static bool vcx_bars_init(VcxState *s, Error **errp)
{
    PCIDevice *pci = PCI_DEVICE(s);
    unsigned int vector;

    memory_region_init_io(&s->registers, OBJECT(s), &vcx_register_ops, s,
                          "vcx-registers", vcx_core_bar_bytes(s->core));
    pci_register_bar(pci, VCX_REGISTER_BAR,
                     PCI_BASE_ADDRESS_SPACE_MEMORY |
                     PCI_BASE_ADDRESS_MEM_TYPE_64 |
                     PCI_BASE_ADDRESS_MEM_PREFETCH, &s->registers);
    if (msix_init_exclusive_bar(pci, s->config.num_vectors, VCX_MSIX_BAR,
                                errp) < 0) {
        return false;
    }
    for (vector = 0; vector < s->config.num_vectors; vector++) {
        msix_vector_use(pci, vector);
    }
    return true;
}

static bool vcx_core_init(VcxState *s, Error **errp)
{
    char error[256] = "";

    s->core = vcx_core_new(&s->config, &vcx_host_ops, s, error, sizeof(error));
    if (!s->core) {
        vcx_props_refuse(s, error, errp);
        return false;
    }
    vcx_core_fail_command(s->core, s->fail_cmd);
    return true;
}

static void vcx_core_exit(VcxState *s)
{
    vcx_core *core = s->core;

    s->core = NULL;
    vcx_core_free(core);
}

static void vcx_realize(PCIDevice *pci, Error **errp)
{
    VcxState *s = VCX(pci);

    if (!vcx_props_resolve(s, errp)) {
        return;
    }
    vcx_host_init(s);
    if (!vcx_core_init(s, errp)) {
        goto err_host_exit;
    }
    if (!vcx_config_space_init(s, errp)) {
        goto err_core_exit;
    }
    if (!vcx_bars_init(s, errp)) {
        goto err_cap_exit;
    }
    s->running = runstate_is_running();
    s->reset_reason = VCX_RESET_SYSTEM;
    vcx_net_init(s);
    vcx_net_report_link(s);
    vcx_ram_init(s);
    vcx_thread_start(s);
    s->run_state = qemu_add_vm_change_state_handler(vcx_run_state_changed, s);
    return;

err_cap_exit:
    pcie_cap_exit(pci);
err_core_exit:
    vcx_core_exit(s);
err_host_exit:
    vcx_host_exit(s);
}

/* Mirror of vcx_realize(). The BARs are unmapped already. */
static void vcx_exit(PCIDevice *pci)
{
    VcxState *s = VCX(pci);

    qemu_del_vm_change_state_handler(s->run_state);
    vcx_lock(s);
    vcx_core_set_bus_master(s->core, false);
    vcx_core_reset(s->core, VCX_RESET_UNPLUG);
    vcx_host_forget(s);
    vcx_net_forget(s);
    vcx_unlock(s);
    vcx_thread_stop(s);
    vcx_ram_exit(s);
    vcx_net_exit(s);
    msix_uninit_exclusive_bar(pci);
    pcie_cap_exit(pci);
    vcx_core_exit(s);
    vcx_host_exit(s);
}

static void vcx_instance_init(Object *obj)
{
    VcxState *s = VCX(obj);

    /* On a conventional bus too: FLR is part of the PCIe capability. */
    PCI_DEVICE(obj)->cap_present |= QEMU_PCI_CAP_EXPRESS;
    vcx_props_instance_init(s);
    vcx_thread_init(s);
}

static void vcx_instance_finalize(Object *obj)
{
    vcx_thread_destroy(VCX(obj));
}

static const VMStateDescription vcx_vmstate = {
    .name = TYPE_VCX,
    .unmigratable = 1,
};

static void vcx_class_init(ObjectClass *oc, VCX_CLASS_CONST void *data)
{
    DeviceClass *dc = DEVICE_CLASS(oc);
    PCIDeviceClass *pc = PCI_DEVICE_CLASS(oc);

    pc->realize = vcx_realize;
    pc->exit = vcx_exit;
    pc->config_write = vcx_config_write;
    pc->vendor_id = VCX_VENDOR_ID;
    pc->device_id = VCX_DEVICE_ID;
    pc->class_id = VCX_CLASS_ID;
    dc->desc = "RDMA host channel adapter";
    dc->vmsd = &vcx_vmstate;
    device_class_set_legacy_reset(dc, vcx_reset);
    vcx_props_class_init(oc);
    set_bit(DEVICE_CATEGORY_NETWORK, dc->categories);
}

static VCX_CLASS_CONST InterfaceInfo vcx_interfaces[] = {
    { INTERFACE_PCIE_DEVICE },
    { INTERFACE_CONVENTIONAL_PCI_DEVICE },
    { }
};

static const TypeInfo vcx_type = {
    .name = TYPE_VCX,
    .parent = TYPE_PCI_DEVICE,
    .instance_size = sizeof(VcxState),
    .instance_init = vcx_instance_init,
    .instance_finalize = vcx_instance_finalize,
    .class_init = vcx_class_init,
    .interfaces = vcx_interfaces,
};

#ifdef VCX_LOADABLE
void vcx_register_type(void)
{
    type_register_static(&vcx_type);
}
#else
static void vcx_register_types(void)
{
    type_register_static(&vcx_type);
}

type_init(vcx_register_types)
#endif
