/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
/*
 * vcx_core.h - the only door between the device core and whatever hosts it.
 *
 * The core is the HCA: firmware commands, object tables, queue engines, IB
 * transport, port. It has no thread, no clock, no lock and no file of its own;
 * the host (the QEMU glue, a unit test, a fuzzer) gives it memory, interrupts,
 * time, randomness and a wire through struct vcx_host_ops.
 *
 * Locking: the core is not thread safe. The host holds one lock per device
 * around every vcx_core_* call on that device; the callbacks are called with
 * that lock held and must not call back into the core.
 *
 * Units: addresses are DMA (bus) addresses as the device sees them, times are
 * nanoseconds of a monotonic clock, lengths are bytes.
 */
#ifndef VCX_CORE_H
#define VCX_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Raised whenever a structure or a function of this header changes. */
#define VCX_CORE_API_VERSION 3

#define VCX_CORE_NO_DEADLINE UINT64_MAX

typedef struct vcx_core vcx_core;

/*
 * Trace points, one for each stage of the data path (Documentation/
 * life-of-a-write.rst) and one for each kind of refusal. The meaning of the
 * four arguments is given beside each.
 */
enum vcx_trace_point {
	VCX_TRACE_RESET,	   /* reason (enum vcx_reset_reason) */
	VCX_TRACE_MMIO_UNKNOWN,	   /* offset, size, value, is_write */
	VCX_TRACE_COMMAND,	   /* opcode, op_mod, status, syndrome */
	VCX_TRACE_COMMAND_DELIVERY, /* slot, delivery status, in len, out len */
	VCX_TRACE_DOORBELL,	   /* uar page, qpn, producer counter */
	VCX_TRACE_DOORBELL_REFUSED, /* uar page, offset, value, reason */
	VCX_TRACE_SCHEDULER,	   /* qpn, queues waiting */
	VCX_TRACE_SEND_QUEUE,	   /* qpn, wqe index, opcode, length */
	VCX_TRACE_SEND_QUEUE_REFUSED, /* qpn, wqe index, syndrome, vendor syn. */
	VCX_TRACE_REQUESTER,	   /* qpn, bth opcode, psn, payload length */
	VCX_TRACE_RETRY,	   /* qpn, psn, reason, retries left */
	VCX_TRACE_INGRESS,	   /* qpn, bth opcode, psn, payload length */
	VCX_TRACE_INGRESS_DROPPED, /* reason (counter index), qpn, opcode, psn */
	VCX_TRACE_RESPONDER,	   /* qpn, bth opcode, psn, verdict */
	VCX_TRACE_COMPLETER,	   /* qpn, aeth syndrome, psn, msn */
	VCX_TRACE_COMPLETION,	   /* cqn, opcode, qpn, wqe counter */
	VCX_TRACE_COMPLETION_REFUSED, /* cqn, qpn, reason */
	VCX_TRACE_EVENT,	   /* eqn, type, number, sub type */
	VCX_TRACE_EVENT_LOST,	   /* eqn, type, number */
	VCX_TRACE_INTERRUPT,	   /* vector, eqn */
	VCX_TRACE_QP_STATE,	   /* qpn, from, to, reason */
	VCX_TRACE_FAULT,	   /* fault (wire/fault_plan.h), qpn, opcode, psn */
	VCX_TRACE_NUM
};

enum vcx_reset_reason {
	VCX_RESET_POWER_ON,
	VCX_RESET_SYSTEM,	/* machine reset */
	VCX_RESET_FUNCTION,	/* FLR */
	VCX_RESET_UNPLUG,
};

/*
 * What the host gives. Every member must be set unless it says "may be NULL".
 */
struct vcx_host_ops {
	uint32_t version; /* VCX_CORE_API_VERSION */

	/*
	 * Reads or writes guest memory. False when any byte of the range could
	 * not be accessed; then the contents of buf, or of the range, are
	 * undefined and the core treats it as a bus error.
	 */
	bool (*dma_read)(void *host, uint64_t addr, void *buf, size_t len);
	bool (*dma_write)(void *host, uint64_t addr, const void *buf,
			  size_t len);

	/*
	 * Writes count queue entries of 64 bytes next to each other. Who sees the
	 * last 8 bytes of an entry, where its owner bit is, sees the rest of it
	 * too. False as for dma_write(). May be NULL: then each entry is two
	 * calls of dma_write().
	 */
	bool (*dma_write_entries)(void *host, uint64_t addr,
				  const void *entries, size_t count);

	/*
	 * A host pointer to read guest memory at addr without a copy. *len is
	 * the length wanted and, on return, what is contiguous (at least 1).
	 * NULL when the address is not plain RAM: the core then falls back to
	 * dma_read(). Each successful call is paired with dma_unmap() before
	 * the core returns to the host. Both may be NULL.
	 */
	const void *(*dma_map)(void *host, uint64_t addr, size_t *len);
	void (*dma_unmap)(void *host, const void *ptr, size_t len);

	/*
	 * Compare-and-act on 8 naturally aligned bytes of guest memory, atomic
	 * with respect to the guest's CPUs. *old receives the previous value.
	 * Not used yet by the implemented operations; may be NULL.
	 */
	bool (*dma_cas64)(void *host, uint64_t addr, uint64_t compare,
			  uint64_t swap, uint64_t *old);

	/* Raises MSI-X vector number vector (below config num_vectors). */
	void (*raise_msix)(void *host, unsigned int vector);

	uint64_t (*now_ns)(void *host);
	uint64_t (*random)(void *host);

	/*
	 * Asks for one vcx_core_timer() call at or after this time. A later
	 * call replaces the earlier deadline; VCX_CORE_NO_DEADLINE cancels.
	 */
	void (*set_timer)(void *host, uint64_t deadline_ns);

	/* Work is pending: call vcx_core_run() soon, from the device thread. */
	void (*kick)(void *host);

	/*
	 * Hands one frame (complete, from the Ethernet header on, without FCS)
	 * to the wire; the host copies it before it returns. False: the wire
	 * cannot take it now, nothing was sent, and the host will call
	 * vcx_core_wire_ready() when it can. May be NULL when has_wire is
	 * false.
	 */
	bool (*send_frame)(void *host, const void *frame, size_t len);

	/*
	 * One trace event; called only for points that are enabled with
	 * vcx_core_set_trace(). May be NULL.
	 */
	void (*trace)(void *host, enum vcx_trace_point point,
		      const uint64_t args[4]);
};

enum vcx_link {
	VCX_LINK_IB,
	VCX_LINK_ETH,	/* refused by vcx_core_new() until it is implemented */
};

/* What the device is. All limits are counts, rounded up to a power of two. */
struct vcx_core_config {
	uint32_t version;	/* VCX_CORE_API_VERSION */
	enum vcx_link link;
	bool has_wire;		/* a netdev is connected */
	uint64_t guid;		/* node and port GUID, not zero */
	uint16_t lid;		/* 1..0xbfff; 0: derived from the GUID */
	uint32_t mtu_bytes;	/* 256, 512, 1024, 2048, 4096 */
	/*
	 * Payload of a packet on the wire at most, 256..61440. Above the path
	 * MTU: packets of several MTUs for peers that take them.
	 */
	uint32_t max_payload_bytes;
	uint32_t num_vectors;	/* MSI-X vectors, 1..2048 */
	uint32_t max_qp;	/* and so on: objects at the same time */
	uint32_t max_cq;
	uint32_t max_srq;
	uint32_t max_mr;	/* memory keys */
	uint32_t max_pd;
	uint32_t max_eq;
	uint32_t max_uar;
	uint32_t boot_pages;	/* 4 KiB pages asked from the driver, 0: none */
	uint32_t init_pages;
	/*
	 * What the wires do to packets, in the language of core/wire/
	 * fault_plan.h; NULL or empty: nothing. Not used after vcx_core_new().
	 */
	const char *fault;
};

/* Fills in the defaults; the caller then changes what it wants. */
void vcx_core_config_init(struct vcx_core_config *config);

/*
 * Makes a device. NULL on failure, with a sentence that names the member and
 * the limit in error[] (NUL-terminated, cut to error_len).
 */
vcx_core *vcx_core_new(const struct vcx_core_config *config,
		       const struct vcx_host_ops *ops, void *host, char *error,
		       size_t error_len);
void vcx_core_free(vcx_core *core);

/* Size of BAR 0, a power of two. */
uint64_t vcx_core_bar_bytes(const vcx_core *core);

/*
 * Register access in BAR 0, size 1, 2, 4 or 8. Values are little-endian as the
 * PCI bus defines them (byte 0 of the access is bits 7..0); the core converts
 * its big-endian registers. A doorbell may do a bounded amount of data-path
 * work before it returns and asks with kick() for the rest.
 */
uint64_t vcx_core_bar_read(vcx_core *core, uint64_t offset, unsigned int size);
void vcx_core_bar_write(vcx_core *core, uint64_t offset, uint64_t value,
			unsigned int size);

/*
 * Runs the engine for at most budget work units (a unit is about a packet or
 * 4 KiB copied). True when work remains that can go on now.
 */
bool vcx_core_run(vcx_core *core, uint32_t budget);

/* The deadline given to set_timer() has passed (an early call is harmless). */
void vcx_core_timer(vcx_core *core);

/* A frame has arrived. It is not kept; every reason to drop it is counted. */
void vcx_core_receive(vcx_core *core, const void *frame, size_t len);

/*
 * The same for one of several frames that have arrived together: what follows
 * from it, answers above all, is left for a vcx_core_run() that the host makes
 * after the last of them, so that they share an acknowledgement.
 */
void vcx_core_receive_one_of(vcx_core *core, const void *frame, size_t len);

/* send_frame() returned false before and would succeed now. */
void vcx_core_wire_ready(vcx_core *core);

/* The peer side of the wire came up or went away: port state and event. */
void vcx_core_set_link(vcx_core *core, bool up);

/*
 * Forgets everything, as after power-on: objects, command queue, timers. No
 * DMA and no interrupt happens after it returns, until the driver starts anew.
 */
void vcx_core_reset(vcx_core *core, enum vcx_reset_reason reason);

/* Bus Master Enable. While it is off the core does no DMA and no interrupt. */
void vcx_core_set_bus_master(vcx_core *core, bool enabled);

/* Bit i of the mask enables enum vcx_trace_point i. */
void vcx_core_set_trace(vcx_core *core, uint64_t mask);

/*
 * A test aid: of the commands that would be executed from now on, the nth (from
 * 1) is refused with an internal error and has no effect. 0: none. Stays in force
 * over a reset, so that it can be set before a driver starts.
 */
void vcx_core_fail_command(vcx_core *core, uint32_t nth);

/* Opcode of a firmware command as text ("CREATE_QP"), "UNKNOWN" if not known. */
const char *vcx_core_opcode_name(uint16_t opcode);

/* A counter, by its name in Documentation/counters.rst. */
struct vcx_core_counter {
	const char *name;
	uint64_t value;
};

/*
 * Writes at most max counters and returns how many there are: first the object
 * counts ("objects_qp", ...), which are zero when nothing exists, then packet,
 * drop, retry and event counters.
 */
size_t vcx_core_counters(const vcx_core *core, struct vcx_core_counter *out,
			 size_t max);

#ifdef __cplusplus
}
#endif

#endif /* VCX_CORE_H */
