/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The QEMU device `vcx`: a PCI function around one device core (vcx_core.h).
 *
 * Who runs when
 * -------------
 * The core is not thread safe; VcxState.lock is the device lock that is held
 * around every call into it. Two kinds of threads take it:
 *
 * - vCPUs (register access, configuration space) and the main loop (frames,
 *   timers, reset, unplug, properties). They hold the BQL already and use
 *   vcx_lock() and vcx_unlock(). The order is BQL, then device lock.
 * - the device thread (vcx_thread.c), which runs the engine in bounded steps.
 *   It never takes the BQL, not even by accident: device DMA goes to RAM only
 *   (vcx_host.c says why), and what needs the BQL, interrupts and frames, is
 *   left for vcx_deliver(). So it may be joined while the BQL is held.
 *
 * Behind a vIOMMU, translation may end in code of QEMU that requires the BQL;
 * there the engine runs as a bottom half of the main loop instead.
 *
 * A register write that finds the device thread at work does not wait for it: it
 * is posted (vcx_posted.h) and carried out, in order, by the device thread or by
 * whoever takes the device lock next, before anything else.
 *
 * Every call into the core that may do DMA is one RCU section: guest RAM that was
 * found once stays where it is until the call ends.
 *
 * The callbacks of the core are called with the device lock held and must not
 * reach anything that could call the device again. MSI-X messages (which a
 * guest can point at any address, this device's own registers included) and
 * frames (which a backend may answer from within the call) are therefore only
 * recorded; vcx_deliver() sends them with the BQL and without the device lock:
 * at the end of vcx_unlock(), or in a bottom half when the device thread made
 * them.
 *
 * While the virtual machine is stopped the engine does not run.
 */
#ifndef VCX_PCI_H
#define VCX_PCI_H

#include "vcx_qemu.h"
#include "vcx_core.h"
#include "vcx_posted.h"
#include "vcx_ring.h"

#define TYPE_VCX "vcx"
OBJECT_DECLARE_SIMPLE_TYPE(VcxState, VCX)

#define VCX_VENDOR_ID           0x1234
#define VCX_DEVICE_ID           0x5658
#define VCX_CLASS_ID            0x0207  /* network controller, InfiniBand */
#define VCX_REGISTER_BAR        0       /* 64 bits wide, so BAR 1 is its half */
#define VCX_MSIX_BAR            2
#define VCX_MAX_VECTORS         2048
#define VCX_MSIX_WORDS          (VCX_MAX_VECTORS / 64)

/* The device thread; all of it under the device lock. */
typedef struct VcxThread {
    QemuThread thread;
    QemuCond wake;              /* there is work, or quit is set */
    QemuCond turn;              /* a vCPU or the main loop had its turn */
    QEMUBH *bh;                 /* the engine, when it runs under the BQL */
    bool started;
    bool quit;
    bool sleeping;              /* atomic: waits on wake, or is about to */
    bool yielding;              /* waits on turn */
    bool work;                  /* the core asked for vcx_core_run() */
    bool in_main_loop;          /* behind a vIOMMU; changes under the BQL */
    uint32_t waiters;           /* atomic: vcx_lock() calls that wait */
    VcxPosted posted;           /* push: BQL, pop: device lock */
} VcxThread;

/* Guest RAM by DMA address; see vcx_ram.c. */
typedef struct VcxRamTable VcxRamTable;

typedef struct VcxRam {
    MemoryListener listener;
    VcxRamTable *table;         /* RCU; replaced under the BQL */
    VcxRamTable *next;          /* BQL: while the memory map changes */
} VcxRam;

/* Frames from the core to the netdev; see vcx_net.c. */
typedef struct VcxNet {
    NICConf conf;
    NICState *nic;              /* NULL without netdev */
    VcxRing ring;               /* push: device lock, the rest: BQL */
    bool backend_busy;          /* BQL: the backend queued our last frame */
    int64_t received_ns;        /* BQL: when the last frame had been served */
    QEMUBH *burst_bh;           /* BQL: frames wait for vcx_core_run() */
} VcxNet;

struct VcxState {
    PCIDevice parent_obj;

    /* Properties; constant once the device is realized. */
    struct vcx_core_config config;
    char *link;
    char *guid;
    char *fault;
    uint32_t lid;
    uint32_t vendor_id;
    uint32_t device_id;
    uint32_t subsystem_vendor_id;
    uint32_t subsystem_id;
    uint32_t fail_cmd;          /* may change at any time; BQL */

    MemoryRegion registers;
    VMChangeStateEntry *run_state;
    QEMUBH *deliver_bh;
    QEMUTimer *core_timer;      /* QEMU_CLOCK_VIRTUAL */
    QEMUTimer *trace_timer;     /* QEMU_CLOCK_REALTIME */
    enum vcx_reset_reason reset_reason; /* BQL */
    bool delivering;            /* BQL: inside vcx_deliver() */

    QemuMutex lock;             /* the device lock; guards what follows */
    vcx_core *core;             /* NULL unless realized; changes under the BQL */
    bool running;               /* the virtual machine runs (also under BQL) */
    bool bql_section;           /* between vcx_lock() and vcx_unlock() */
    uint64_t deadline_ns;       /* what the core asked for */
    uint64_t armed_ns;          /* when core_timer fires, at the latest */
    uint64_t random_state;
    uint64_t trace_mask;
    VcxThread thread;
    VcxNet net;
    VcxRam ram;

    uint64_t msix_pending[VCX_MSIX_WORDS]; /* atomic: vectors to be raised */
    bool output;                /* atomic: vcx_deliver() has something to do */
};

/* vcx_thread.c */
void vcx_lock(VcxState *s);
void vcx_unlock(VcxState *s);
void vcx_write_register(VcxState *s, uint64_t offset, uint64_t value,
                        unsigned int size);
void vcx_thread_init(VcxState *s);
void vcx_thread_start(VcxState *s);
void vcx_thread_stop(VcxState *s);
void vcx_thread_kick(VcxState *s);
void vcx_thread_choose_place(VcxState *s);
void vcx_thread_destroy(VcxState *s);

/* vcx_host.c */
extern const struct vcx_host_ops vcx_host_ops;
void vcx_host_init(VcxState *s);
void vcx_host_exit(VcxState *s);
void vcx_host_forget(VcxState *s);
void vcx_output_pending(VcxState *s);
void vcx_deliver(VcxState *s, unsigned int max_frames);

/* vcx_ram.c */
void vcx_ram_init(VcxState *s);
void vcx_ram_exit(VcxState *s);
void *vcx_ram_find(VcxState *s, uint64_t addr, hwaddr *len, bool is_write,
                   MemoryRegion **region);

/* vcx_net.c */
void vcx_net_init(VcxState *s);
void vcx_net_exit(VcxState *s);
void vcx_net_report_link(VcxState *s);
void vcx_net_resume(VcxState *s);
void vcx_net_forget(VcxState *s);
bool vcx_net_push(VcxState *s, const void *frame, size_t len);
bool vcx_net_flush(VcxState *s, unsigned int max_frames);

/* vcx_props.c */
void vcx_props_class_init(ObjectClass *oc);
void vcx_props_instance_init(VcxState *s);
bool vcx_props_resolve(VcxState *s, Error **errp);
void vcx_props_refuse(VcxState *s, const char *core_error, Error **errp);

/* vcx_trace.c */
void vcx_trace_point(VcxState *s, enum vcx_trace_point point,
                     const uint64_t args[4]);
void vcx_trace_refresh(VcxState *s);

#endif /* VCX_PCI_H */
