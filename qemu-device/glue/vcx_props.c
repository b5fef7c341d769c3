/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Properties of the device: what a user may set, its limits, its default and
 * the sentence that refuses anything else. Defaults come from the core, which
 * has the last word on limits too: what vcx_core_new() says is passed on.
 *
 * scripts/qemu-vcx --help shows the same; glue/tests compares the two.
 */
#include "vcx_pci.h"

/* A whole number; the variable is a uint32_t. */
typedef struct VcxNumber {
    const char *name;
    const char *core_name;  /* in struct vcx_core_config, or NULL */
    size_t offset;          /* in VcxState */
    uint32_t min, max;
    bool hex;
    const char *help;       /* ends where the limits are appended */
    bool power_of_2;
} VcxNumber;

static const VcxNumber vcx_numbers[] = {
    { "lid", NULL, offsetof(VcxState, lid), 0, 0xbfff, false,
      "LID of the InfiniBand port; 0: derived from the GUID" },
    { "mtu", "mtu_bytes", offsetof(VcxState, config.mtu_bytes), 256, 4096,
      false, "largest MTU of the port: 256, 512, 1024, 2048 or 4096", true },
    { "max-payload", "max_payload_bytes",
      offsetof(VcxState, config.max_payload_bytes), 256, 61440, false,
      "payload of a packet on the wire, bytes; above the path MTU for peers "
      "that take it" },
    { "num-vectors", "num_vectors", offsetof(VcxState, config.num_vectors),
      0, VCX_MAX_VECTORS, false,
      "MSI-X vectors; 0: 16 more than the machine may have CPUs, at least 64" },
    { "max-qp", "max_qp", offsetof(VcxState, config.max_qp),
      1, 1u << 18, false, "queue pairs" },
    { "max-cq", "max_cq", offsetof(VcxState, config.max_cq),
      1, 1u << 20, false, "completion queues" },
    { "max-srq", "max_srq", offsetof(VcxState, config.max_srq),
      1, 1u << 20, false, "shared receive queues" },
    { "max-mr", "max_mr", offsetof(VcxState, config.max_mr),
      1, 1u << 22, false, "memory keys" },
    { "max-pd", "max_pd", offsetof(VcxState, config.max_pd),
      1, 1u << 20, false, "protection domains" },
    { "max-eq", "max_eq", offsetof(VcxState, config.max_eq),
      4, 128, false, "event queues" },
    { "max-uar", "max_uar", offsetof(VcxState, config.max_uar),
      1, 1u << 16, false, "doorbell pages" },
    { "boot-pages", "boot_pages", offsetof(VcxState, config.boot_pages),
      0, 1u << 16, false,
      "4 KiB pages that the driver must give at start; 0: none" },
    { "init-pages", "init_pages", offsetof(VcxState, config.init_pages),
      0, 1u << 16, false,
      "4 KiB pages that the driver must give before INIT_HCA; 0: none" },
    { "x-vendor-id", NULL, offsetof(VcxState, vendor_id), 1, 0xfffe, true,
      "PCI vendor ID" },
    { "x-device-id", NULL, offsetof(VcxState, device_id), 0, 0xffff, true,
      "PCI device ID" },
    { "x-subsystem-vendor-id", NULL, offsetof(VcxState, subsystem_vendor_id),
      0, 0xffff, true, "PCI subsystem vendor ID" },
    { "x-subsystem-id", NULL, offsetof(VcxState, subsystem_id),
      0, 0xffff, true, "PCI subsystem ID" },
};

static uint32_t *vcx_number_ptr(VcxState *s, const VcxNumber *number)
{
    return (uint32_t *)((uint8_t *)s + number->offset);
}

static char *vcx_number_limits(const VcxNumber *number)
{
    return g_strdup_printf(number->hex ? "0x%x to 0x%x" : "%u to %u",
                           number->min, number->max);
}

static void vcx_number_get(Object *obj, Visitor *v, const char *name,
                           void *opaque, Error **errp)
{
    visit_type_uint32(v, name, vcx_number_ptr(VCX(obj), opaque), errp);
}

static bool vcx_number_is_valid(const VcxNumber *number, uint64_t value)
{
    if (value < number->min || value > number->max) {
        return false;
    }
    return !number->power_of_2 || is_power_of_2(value);
}

static void vcx_number_set(Object *obj, Visitor *v, const char *name,
                           void *opaque, Error **errp)
{
    const VcxNumber *number = opaque;
    g_autofree char *limits = vcx_number_limits(number);
    uint64_t value;

    if (DEVICE(obj)->realized) {
        error_setg(errp, "%s cannot be changed while the device exists", name);
        return;
    }
    /* The visitor's own error does not know the limits. */
    if (!visit_type_uint64(v, name, &value, NULL) ||
        !vcx_number_is_valid(number, value)) {
        error_setg(errp, "%s must be %s from %s (%s)", name,
                   number->power_of_2 ? "a power of two" : "a whole number",
                   limits, number->help);
        return;
    }
    *vcx_number_ptr(VCX(obj), number) = value;
}

static char *vcx_counters_get(Object *obj, Error **errp)
{
    VcxState *s = VCX(obj);
    g_autofree struct vcx_core_counter *counters = NULL;
    GString *text = g_string_new(NULL);
    size_t i, num;

    if (!s->core) {
        return g_string_free(text, false);
    }
    vcx_lock(s);
    num = vcx_core_counters(s->core, NULL, 0);
    counters = g_new0(struct vcx_core_counter, num);
    vcx_core_counters(s->core, counters, num);
    for (i = 0; i < num; i++) {
        g_string_append_printf(text, "%s %" PRIu64 "\n", counters[i].name,
                               counters[i].value);
    }
    vcx_unlock(s);
    return g_string_free(text, false);
}

/* Unlike the others it may be set while the device exists: with qom-set. */
static void vcx_fail_cmd_set(Object *obj, Visitor *v, const char *name,
                             void *opaque, Error **errp)
{
    VcxState *s = VCX(obj);

    if (!visit_type_uint32(v, name, &s->fail_cmd, errp) || !s->core) {
        return;
    }
    vcx_lock(s);
    vcx_core_fail_command(s->core, s->fail_cmd);
    vcx_unlock(s);
}

static void vcx_fail_cmd_get(Object *obj, Visitor *v, const char *name,
                             void *opaque, Error **errp)
{
    visit_type_uint32(v, name, &VCX(obj)->fail_cmd, errp);
}

static VCX_PROPERTY_CONST Property vcx_qdev_properties[] = {
    DEFINE_NIC_PROPERTIES(VcxState, net.conf),
    DEFINE_PROP_STRING("link", VcxState, link),
    DEFINE_PROP_STRING("guid", VcxState, guid),
    DEFINE_PROP_STRING("fault", VcxState, fault),
    VCX_END_OF_PROPERTIES
};

static void vcx_defaults(VcxState *s)
{
    vcx_core_config_init(&s->config);
    s->config.num_vectors = 0;
    s->lid = s->config.lid;
    s->vendor_id = VCX_VENDOR_ID;
    s->device_id = VCX_DEVICE_ID;
    s->subsystem_vendor_id = VCX_VENDOR_ID;
    s->subsystem_id = VCX_DEVICE_ID;
}

void vcx_props_instance_init(VcxState *s)
{
    vcx_defaults(s);
}

void vcx_props_class_init(ObjectClass *oc)
{
    g_autofree VcxState *defaults = g_new0(VcxState, 1);
    size_t i;

    vcx_defaults(defaults);
    for (i = 0; i < ARRAY_SIZE(vcx_numbers); i++) {
        const VcxNumber *number = &vcx_numbers[i];
        g_autofree char *limits = vcx_number_limits(number);
        g_autofree char *help = NULL;
        ObjectProperty *prop;

        prop = object_class_property_add(oc, number->name, "uint32",
                                         vcx_number_get, vcx_number_set, NULL,
                                         (void *)number);
        object_property_set_default_uint(prop,
                                         *vcx_number_ptr(defaults, number));
        help = g_strdup_printf("%s (%s)", number->help, limits);
        object_class_property_set_description(oc, number->name, help);
    }
    device_class_set_props(DEVICE_CLASS(oc), vcx_qdev_properties);
    object_class_property_set_description(
        oc, "netdev", "ID of the -netdev that is the port's wire; "
                      "without it there is only loopback");
    object_class_property_set_description(
        oc, "mac", "Ethernet address from which the GUID is made");
    object_class_property_set_description(
        oc, "link", "link layer of the port: ib or eth (default ib)");
    object_class_property_set_description(
        oc, "guid", "node and port GUID, 16 hexadecimal digits "
                    "(default: from mac, or from -uuid, or random)");
    object_class_property_set_description(
        oc, "fault", "what the wires do to packets, such as "
                     "drop=1%+corrupt=0.1%+seed=7 (default: nothing)");
    object_class_property_add(oc, "x-fail-cmd", "uint32", vcx_fail_cmd_get,
                              vcx_fail_cmd_set, NULL, NULL);
    object_class_property_set_description(
        oc, "x-fail-cmd", "for tests of drivers: the command that is refused, "
                          "counted from 1 from when this is set; 0: none");
    object_class_property_add_str(oc, "counters", vcx_counters_get, NULL);
    object_class_property_set_description(
        oc, "counters", "all counters, a line of name and value for each");
}

/* 16 digits, with or without : between them, or 0x and up to 16 digits. */
static bool vcx_parse_guid(const char *text, uint64_t *guid)
{
    bool prefixed = g_str_has_prefix(text, "0x") ||
                    g_str_has_prefix(text, "0X");
    unsigned int digits = 0;
    const char *p;

    *guid = 0;
    for (p = prefixed ? text + 2 : text; *p; p++) {
        if (*p == ':' && !prefixed && digits > 0 && p[1] != '\0') {
            continue;
        }
        if (!g_ascii_isxdigit(*p) || ++digits > 16) {
            return false;
        }
        *guid = *guid << 4 | g_ascii_xdigit_value(*p);
    }
    return *guid != 0 && (digits == 16 || prefixed);
}

/* EUI-64 of a MAC address. */
static uint64_t vcx_guid_from_mac(const uint8_t mac[6])
{
    return (uint64_t)mac[0] << 56 | (uint64_t)mac[1] << 48 |
           (uint64_t)mac[2] << 40 | 0xfffeull << 24 | (uint64_t)mac[3] << 16 |
           (uint64_t)mac[4] << 8 | mac[5];
}

/*
 * A locally administered address that no other device has: neither in this
 * process nor, and that is why QEMU's default address does not do, in another
 * machine at the end of the wire. With -uuid it stays the same over restarts.
 */
static void vcx_make_mac(uint8_t mac[6])
{
    static unsigned int devices; /* made so far; under the BQL */
    uint64_t hash = 0xcbf29ce484222325ull; /* FNV-1a */
    size_t i;

    if (qemu_uuid_set) {
        for (i = 0; i < sizeof(qemu_uuid.data); i++) {
            hash = (hash ^ qemu_uuid.data[i]) * 0x100000001b3ull;
        }
        hash = (hash ^ devices) * 0x100000001b3ull;
    } else {
        qemu_guest_getrandom_nofail(&hash, sizeof(hash));
    }
    devices++;
    mac[0] = 0x02;
    for (i = 1; i < 6; i++) {
        mac[i] = hash >> (8 * i);
    }
}

static bool vcx_resolve_guid(VcxState *s, Error **errp)
{
    MACAddr *mac = &s->net.conf.macaddr;
    static const uint8_t unset[6];

    if (s->guid && !vcx_parse_guid(s->guid, &s->config.guid)) {
        error_setg(errp, "guid must be 16 hexadecimal digits, such as "
                         "0002c90300a0b1c2 or 0002:c903:00a0:b1c2, and not "
                         "zero");
        return false;
    }
    if (memcmp(mac->a, unset, sizeof(unset)) == 0) {
        vcx_make_mac(mac->a);
    }
    if (!s->guid) {
        s->config.guid = vcx_guid_from_mac(mac->a);
    }
    g_free(s->guid);
    s->guid = g_strdup_printf("%016" PRIx64, s->config.guid);
    return true;
}

static bool vcx_resolve_link(VcxState *s, Error **errp)
{
    if (!s->link || strcmp(s->link, "ib") == 0) {
        s->config.link = VCX_LINK_IB;
    } else if (strcmp(s->link, "eth") == 0) {
        s->config.link = VCX_LINK_ETH;
    } else {
        error_setg(errp, "link must be ib or eth");
        return false;
    }
    if (!s->link) {
        s->link = g_strdup("ib");
    }
    return true;
}

/* Makes the core's configuration of what the user has set. */
bool vcx_props_resolve(VcxState *s, Error **errp)
{
    unsigned int cpus = MACHINE(qdev_get_machine())->smp.max_cpus;

    if (!vcx_resolve_link(s, errp) || !vcx_resolve_guid(s, errp)) {
        return false;
    }
    if (s->config.num_vectors == 0) {
        s->config.num_vectors = MIN(MAX(cpus + 16, 64), VCX_MAX_VECTORS);
    }
    s->config.lid = s->lid;
    s->config.fault = s->fault;
    s->config.has_wire = s->net.conf.peers.ncs[0] != NULL;
    return true;
}

/*
 * Passes on why the core does not want this configuration. It names members of
 * its own structure; the user knows the properties.
 */
void vcx_props_refuse(VcxState *s, const char *core_error, Error **errp)
{
    g_autofree char *text = g_strdup(core_error);
    size_t i;

    for (i = 0; i < ARRAY_SIZE(vcx_numbers); i++) {
        g_auto(GStrv) parts = NULL;

        if (!vcx_numbers[i].core_name) {
            continue;
        }
        parts = g_strsplit(text, vcx_numbers[i].core_name, -1);
        g_free(text);
        text = g_strjoinv(vcx_numbers[i].name, parts);
    }
    error_setg(errp, "%s", text);
}
