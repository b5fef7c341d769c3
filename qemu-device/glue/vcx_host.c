/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the core asks of its host, given by QEMU: memory, interrupts, time,
 * random numbers. Everything here is called with the device lock held, from a
 * vCPU, the main loop or the device thread; vcx_deliver() without it.
 *
 * DMA reaches RAM only. A guest may point the device at anything, and an
 * access to another device's registers (or our own) would need the BQL, which
 * the device thread must not take while it holds the device lock, and would
 * enter code that does not expect to be called from within this device. It is
 * answered as a bus error, as a root complex without peer-to-peer does. Every
 * call into the core is one RCU section (vcx_thread.c), so that RAM cannot turn
 * into registers, or go away, between the look at an address and the access.
 */
#include "vcx_pci.h"

/*
 * The trace state of QEMU has no notifier. A slow timer keeps the core's mask
 * up to date, so that disabled trace points cost the data path nothing.
 */
#define VCX_TRACE_REFRESH_MS 200

/* Frames that the main loop sends before it looks after other devices. */
#define VCX_MAIN_LOOP_FRAMES 64

/* Structures that a guest polls are at most this long: a CQE or an EQE. */
#define VCX_ORDERED_BYTES 64

/*
 * Finds guest RAM at a DMA address, in an RCU section. *len is cut to what is
 * contiguous. Mostly the table of vcx_ram.c has it; the address space, which
 * follows Bus Master Enable and a vIOMMU's translation by itself, has the rest.
 */
static void *vcx_find_ram(VcxState *s, uint64_t addr, hwaddr *len,
                          bool is_write, MemoryRegion **region)
{
    hwaddr offset;
    MemoryRegion *mr;
    void *ram = vcx_ram_find(s, addr, len, is_write, region);

    if (ram) {
        return ram;
    }
    mr = address_space_translate(pci_get_address_space(PCI_DEVICE(s)), addr,
                                 &offset, len, is_write,
                                 MEMTXATTRS_UNSPECIFIED);
    if (!memory_region_is_ram(mr) || memory_region_is_ram_device(mr) ||
        (is_write && (mr->readonly || mr->rom_device))) {
        qemu_log_mask(LOG_GUEST_ERROR,
                      "vcx: DMA %s at 0x%" PRIx64 " is not RAM\n",
                      is_write ? "write" : "read", addr);
        return NULL;
    }
    *region = mr;
    return qemu_map_ram_ptr(mr->ram_block, offset);
}

/* After a store: translated code and dirty bitmaps must learn of it. */
static void vcx_ram_written(VcxState *s, MemoryRegion *mr, void *ptr,
                            hwaddr len)
{
    memory_region_ref(mr); /* dropped by address_space_unmap() */
    address_space_unmap(pci_get_address_space(PCI_DEVICE(s)), ptr, len, true,
                        len);
}

static bool vcx_is_ordered(const void *ptr, size_t len)
{
    return len <= VCX_ORDERED_BYTES && (((uintptr_t)ptr | len) & 7) == 0;
}

/*
 * A vCPU may look at memory while it is written. Small aligned structures are
 * stored in whole words, the last one last: there sit their owner bits.
 * memcpy() promises no order. Doorbell records (8 bytes) are read whole.
 */
static void vcx_store(void *ram, const void *buf, size_t len)
{
    size_t i;
    uint64_t word;

    if (!vcx_is_ordered(ram, len)) {
        memcpy(ram, buf, len);
        return;
    }
    for (i = 0; i < len; i += 8) {
        memcpy(&word, (const uint8_t *)buf + i, 8);
        if (i + 8 == len) {
            smp_wmb(); /* pairs with the guest's read barrier after its poll */
        }
        qatomic_set__nocheck((uint64_t *)((uint8_t *)ram + i), word);
    }
}

static void vcx_load(void *buf, const void *ram, size_t len)
{
    size_t i;
    uint64_t word;

    if (!vcx_is_ordered(ram, len)) {
        memcpy(buf, ram, len);
        return;
    }
    for (i = 0; i < len; i += 8) {
        word = qatomic_read__nocheck(
            (const uint64_t *)((const uint8_t *)ram + i));
        memcpy((uint8_t *)buf + i, &word, 8);
    }
}

static bool vcx_range_wraps(uint64_t addr, size_t len)
{
    return len > 0 && addr + (len - 1) < addr;
}

static bool vcx_dma_read(void *host, uint64_t addr, void *buf, size_t len)
{
    VcxState *s = host;

    if (vcx_range_wraps(addr, len)) {
        return false;
    }
    smp_rmb(); /* what is read now is not older than what was read before */
    while (len > 0) {
        hwaddr part = len;
        MemoryRegion *mr;
        void *ram = vcx_find_ram(s, addr, &part, false, &mr);

        if (!ram) {
            return false;
        }
        fuzz_dma_read_cb(addr, part, mr);
        vcx_load(buf, ram, part);
        buf = (uint8_t *)buf + part;
        addr += part;
        len -= part;
    }
    return true;
}

static bool vcx_dma_write(void *host, uint64_t addr, const void *buf,
                          size_t len)
{
    VcxState *s = host;

    if (vcx_range_wraps(addr, len)) {
        return false;
    }
    smp_wmb(); /* payload before CQE before EQE: see the pairing in vcx_store */
    while (len > 0) {
        hwaddr part = len;
        MemoryRegion *mr;
        void *ram = vcx_find_ram(s, addr, &part, true, &mr);

        if (!ram) {
            return false;
        }
        vcx_store(ram, buf, part);
        vcx_ram_written(s, mr, ram, part);
        buf = (const uint8_t *)buf + part;
        addr += part;
        len -= part;
    }
    return true;
}

/* Entry by entry, so that each is stored in its order, wherever RAM ends. */
static bool vcx_dma_write_entries(void *host, uint64_t addr,
                                  const void *entries, size_t count)
{
    VcxState *s = host;
    const uint8_t *from = entries;
    size_t len = count * VCX_ORDERED_BYTES;

    if (vcx_range_wraps(addr, len)) {
        return false;
    }
    smp_wmb(); /* as in vcx_dma_write() */
    while (len > 0) {
        hwaddr done, part = len;
        MemoryRegion *mr;
        uint8_t *ram = vcx_find_ram(s, addr, &part, true, &mr);

        if (!ram) {
            return false;
        }
        for (done = 0; done < part; done += VCX_ORDERED_BYTES) {
            vcx_store(ram + done, from + done,
                      MIN(VCX_ORDERED_BYTES, part - done));
        }
        vcx_ram_written(s, mr, ram, part);
        from += part;
        addr += part;
        len -= part;
    }
    return true;
}

static const void *vcx_dma_map(void *host, uint64_t addr, size_t *len)
{
    VcxState *s = host;
    hwaddr part = *len;
    MemoryRegion *mr;
    void *ram;

    if (part == 0 || vcx_range_wraps(addr, part)) {
        return NULL;
    }
    ram = vcx_find_ram(s, addr, &part, false, &mr);
    if (!ram) {
        return NULL;
    }
    fuzz_dma_read_cb(addr, part, mr);
    *len = part;
    return ram;
}

/* The RCU section of the call into the core has kept it. */
static void vcx_dma_unmap(void *host, const void *ptr, size_t len)
{
}

static bool vcx_dma_cas64(void *host, uint64_t addr, uint64_t compare,
                          uint64_t swap, uint64_t *old)
{
    VcxState *s = host;
    hwaddr part = 8;
    MemoryRegion *mr;
    void *ram;

    if (addr & 7) {
        return false;
    }
    ram = vcx_find_ram(s, addr, &part, true, &mr);
    if (!ram || part < 8 || ((uintptr_t)ram & 7)) {
        return false;
    }
    /* vCPUs use host atomics on the same memory, also under TCG. */
    *old = qatomic_cmpxchg__nocheck((uint64_t *)ram, compare, swap);
    vcx_ram_written(s, mr, ram, 8);
    return true;
}

/*
 * Notes that vcx_deliver() has work. A section that began with vcx_lock()
 * calls it at its end; the device thread cannot, it needs the BQL, and a wake-up
 * of the main loop is a system call. When it is noted already, vcx_deliver() is
 * on its way and has not looked yet.
 */
void vcx_output_pending(VcxState *s)
{
    if (qatomic_xchg(&s->output, true)) {
        return;
    }
    if (!s->bql_section) {
        qemu_bh_schedule(s->deliver_bh);
    }
}

static void vcx_raise_msix(void *host, unsigned int vector)
{
    VcxState *s = host;

    if (vector >= s->config.num_vectors) {
        return; /* the core checks what a driver asks for */
    }
    qatomic_or(&s->msix_pending[vector / 64], 1ull << (vector % 64));
    vcx_output_pending(s);
}

static void vcx_msix_flush(VcxState *s)
{
    PCIDevice *pci = PCI_DEVICE(s);
    unsigned int word, words = DIV_ROUND_UP(s->config.num_vectors, 64);

    for (word = 0; word < words; word++) {
        uint64_t bits;

        if (qatomic_read(&s->msix_pending[word]) == 0) {
            continue;
        }
        bits = qatomic_xchg(&s->msix_pending[word], 0);
        while (bits && msix_enabled(pci)) {
            msix_notify(pci, word * 64 + ctz64(bits));
            bits &= bits - 1;
        }
    }
}

/*
 * Sends the interrupts and frames that were recorded. The BQL is held, the
 * device lock is not. A message or a frame can come back to this device before
 * its call returns; what such a nested call makes is sent by the bottom half.
 */
void vcx_deliver(VcxState *s, unsigned int max_frames)
{
    bool more;

    if (!qatomic_read(&s->output)) {
        return;
    }
    if (s->delivering) {
        qemu_bh_schedule(s->deliver_bh);
        return;
    }
    s->delivering = true;
    qatomic_xchg(&s->output, false); /* a full barrier, before the look */
    vcx_msix_flush(s);
    more = vcx_net_flush(s, max_frames);
    s->delivering = false;
    if (more) {
        qatomic_set(&s->output, true);
        qemu_bh_schedule(s->deliver_bh);
    }
}

static void vcx_deliver_bh(void *opaque)
{
    vcx_deliver(opaque, VCX_MAIN_LOOP_FRAMES);
}

/*
 * The virtual clock: it stands still with the machine, so that retry timers do
 * not expire while the guest cannot act, and it is the clock that the guest
 * itself lives by, also with -icount.
 */
static uint64_t vcx_now_ns(void *host)
{
    return qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);
}

/*
 * The core moves its deadline with almost every acknowledge. Only an earlier
 * one touches the QEMU timer; a later one is found when the timer fires.
 */
static void vcx_set_timer(void *host, uint64_t deadline_ns)
{
    VcxState *s = host;

    s->deadline_ns = deadline_ns;
    if (deadline_ns < s->armed_ns) {
        s->armed_ns = deadline_ns;
        timer_mod_ns(s->core_timer, MIN(deadline_ns, INT64_MAX));
    }
}

static void vcx_timer_fired(void *opaque)
{
    VcxState *s = opaque;

    vcx_lock(s);
    s->armed_ns = VCX_CORE_NO_DEADLINE;
    if (s->deadline_ns <= vcx_now_ns(s)) {
        s->deadline_ns = VCX_CORE_NO_DEADLINE;
        vcx_core_timer(s->core);
    } else if (s->deadline_ns != VCX_CORE_NO_DEADLINE) {
        vcx_set_timer(s, s->deadline_ns);
    }
    vcx_unlock(s);
}

/*
 * splitmix64 from a seed that QEMU gives: reproducible with -seed, and no
 * system call in the data path. Not meant to resist an attacker.
 */
static uint64_t vcx_random(void *host)
{
    VcxState *s = host;
    uint64_t z = s->random_state += 0x9e3779b97f4a7c15ull;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

static void vcx_kick(void *host)
{
    vcx_thread_kick(host);
}

static bool vcx_send_frame(void *host, const void *frame, size_t len)
{
    return vcx_net_push(host, frame, len);
}

static void vcx_trace(void *host, enum vcx_trace_point point,
                      const uint64_t args[4])
{
    vcx_trace_point(host, point, args);
}

const struct vcx_host_ops vcx_host_ops = {
    .version = VCX_CORE_API_VERSION,
    .dma_read = vcx_dma_read,
    .dma_write = vcx_dma_write,
    .dma_write_entries = vcx_dma_write_entries,
    .dma_map = vcx_dma_map,
    .dma_unmap = vcx_dma_unmap,
    .dma_cas64 = vcx_dma_cas64,
    .raise_msix = vcx_raise_msix,
    .now_ns = vcx_now_ns,
    .random = vcx_random,
    .set_timer = vcx_set_timer,
    .kick = vcx_kick,
    .send_frame = vcx_send_frame,
    .trace = vcx_trace,
};

static void vcx_trace_timer_fired(void *opaque)
{
    VcxState *s = opaque;

    vcx_trace_refresh(s);
    timer_mod(s->trace_timer, qemu_clock_get_ms(QEMU_CLOCK_REALTIME) +
                                  VCX_TRACE_REFRESH_MS);
}

/* Before vcx_core_new(), which may use the clock and random numbers already. */
void vcx_host_init(VcxState *s)
{
    qemu_guest_getrandom_nofail(&s->random_state, sizeof(s->random_state));
    s->deadline_ns = VCX_CORE_NO_DEADLINE;
    s->armed_ns = VCX_CORE_NO_DEADLINE;
    s->trace_mask = 0;
    s->deliver_bh = qemu_bh_new(vcx_deliver_bh, s);
    s->core_timer = timer_new_ns(QEMU_CLOCK_VIRTUAL, vcx_timer_fired, s);
    s->trace_timer = timer_new_ms(QEMU_CLOCK_REALTIME, vcx_trace_timer_fired,
                                  s);
    timer_mod(s->trace_timer, qemu_clock_get_ms(QEMU_CLOCK_REALTIME));
}

/* Drops what the core asked for before a reset. Both locks are held. */
void vcx_host_forget(VcxState *s)
{
    unsigned int word;

    s->deadline_ns = VCX_CORE_NO_DEADLINE;
    for (word = 0; word < VCX_MSIX_WORDS; word++) {
        qatomic_set(&s->msix_pending[word], 0);
    }
}

/* The device thread does not run any more. */
void vcx_host_exit(VcxState *s)
{
    timer_free(s->trace_timer);
    timer_free(s->core_timer);
    qemu_bh_delete(s->deliver_bh);
}
