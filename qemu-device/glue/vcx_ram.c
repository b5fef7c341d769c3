/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Guest RAM as the device addresses it, with host pointers: what a DMA finds
 * without asking QEMU's memory API.
 *
 * A table of sections follows the device's address space through a memory
 * listener, so that Bus Master Enable, hotplug of memory and everything else
 * that moves RAM replaces it. It never changes once it is published; readers
 * are in an RCU section from the look at it until the last byte is copied.
 *
 * The address space lets go of a region when its own readers are done, and the
 * listener is told later than they: so the table keeps a reference to each
 * region until its own readers are done.
 *
 * What is not in the table is no plain RAM, or lies behind a vIOMMU that
 * translates: vcx_host.c asks QEMU then.
 */
#include "vcx_pci.h"

typedef struct VcxRamSection {
    hwaddr begin;
    hwaddr bytes;
    uint8_t *host;
    MemoryRegion *region;
    bool readonly;
} VcxRamSection;

struct VcxRamTable {
    struct rcu_head rcu;
    GArray *sections;
};

static VcxRamTable *vcx_ram_table_new(void)
{
    VcxRamTable *table = g_new0(VcxRamTable, 1);

    table->sections = g_array_new(false, false, sizeof(VcxRamSection));
    return table;
}

static void vcx_ram_table_free(VcxRamTable *table)
{
    guint i;

    for (i = 0; i < table->sections->len; i++) {
        memory_region_unref(
            g_array_index(table->sections, VcxRamSection, i).region);
    }
    g_array_free(table->sections, true);
    g_free(table);
}

/* A change begins: every section of the new view follows, new or not. */
static void vcx_ram_begin(MemoryListener *listener)
{
    VcxRam *ram = container_of(listener, VcxRam, listener);

    ram->next = vcx_ram_table_new();
}

static void vcx_ram_add(MemoryListener *listener, MemoryRegionSection *section)
{
    VcxRam *ram = container_of(listener, VcxRam, listener);
    MemoryRegion *mr = section->mr;
    VcxRamSection entry;
    uint8_t *host;

    if (!memory_region_is_ram(mr) || memory_region_is_ram_device(mr) ||
        mr->rom_device || int128_gethi(section->size) != 0) {
        return;
    }
    host = qemu_ram_get_host_addr(mr->ram_block);
    if (!host) {
        return; /* Xen maps it piece by piece */
    }
    entry.begin = section->offset_within_address_space;
    entry.bytes = int128_getlo(section->size);
    entry.host = host + section->offset_within_region;
    entry.region = mr;
    entry.readonly = section->readonly || mr->readonly;
    memory_region_ref(mr);
    g_array_append_val(ram->next->sections, entry);
}

/* The largest first: it is what most accesses are to. */
static gint vcx_ram_compare(gconstpointer a, gconstpointer b)
{
    const VcxRamSection *first = a, *second = b;

    return first->bytes < second->bytes ? 1 : first->bytes > second->bytes ? -1
                                                                           : 0;
}

static void vcx_ram_commit(MemoryListener *listener)
{
    VcxRam *ram = container_of(listener, VcxRam, listener);
    VcxRamTable *before = ram->table;

    g_array_sort(ram->next->sections, vcx_ram_compare);
    qatomic_rcu_set(&ram->table, ram->next);
    ram->next = NULL;
    if (before) {
        call_rcu(before, vcx_ram_table_free, rcu);
    }
}

/*
 * The host's pointer to RAM at this address, and *len cut to what is contiguous;
 * NULL when the table does not have it. In an RCU section that lasts for as long
 * as the pointer is used.
 */
void *vcx_ram_find(VcxState *s, uint64_t addr, hwaddr *len, bool is_write,
                   MemoryRegion **region)
{
    const VcxRamTable *table = qatomic_rcu_read(&s->ram.table);
    const VcxRamSection *at = (const VcxRamSection *)table->sections->data;
    const VcxRamSection *end = at + table->sections->len;

    for (; at < end; at++) {
        hwaddr offset = addr - at->begin;

        if (offset >= at->bytes) {
            continue;
        }
        if (is_write && at->readonly) {
            return NULL;
        }
        *len = MIN(*len, at->bytes - offset);
        *region = at->region;
        return at->host + offset;
    }
    return NULL;
}

/* The BQL is held, here and in vcx_ram_exit(). */
void vcx_ram_init(VcxState *s)
{
    s->ram.table = vcx_ram_table_new();
    s->ram.listener = (MemoryListener) {
        .name = "vcx",
        .begin = vcx_ram_begin,
        .region_add = vcx_ram_add,
        .region_nop = vcx_ram_add,
        .commit = vcx_ram_commit,
    };
    memory_listener_register(&s->ram.listener,
                             pci_get_address_space(PCI_DEVICE(s)));
}

/* No DMA follows. */
void vcx_ram_exit(VcxState *s)
{
    VcxRamTable *table;

    memory_listener_unregister(&s->ram.listener);
    table = s->ram.table;
    qatomic_rcu_set(&s->ram.table, NULL);
    call_rcu(table, vcx_ram_table_free, rcu);
}
