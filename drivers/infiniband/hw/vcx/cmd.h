/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * cmd.h - the command queue: hands firmware commands to the device and waits.
 *
 * All slots are in use at once; the last one is reserved for MANAGE_PAGES, so
 * that no other command can keep the device waiting for memory. Until the
 * command event queue exists, completion is polled.
 */
#ifndef VCX_CMD_QUEUE_H
#define VCX_CMD_QUEUE_H

#include <linux/semaphore.h>
#include <linux/spinlock.h>
#include <linux/types.h>

struct dma_pool;
struct vcx_cmd;
struct vcx_dev;

#define VCX_CMD_MAX_SLOTS	32

struct vcx_cmdq {
	void *entries;			/* one page */
	dma_addr_t addr;
	struct dma_pool *mailboxes;
	unsigned int num_slots;
	unsigned int log_stride;
	unsigned long timeout;		/* of one command, jiffies */
	bool events;			/* completion by event; all slots held
					 * while it changes
					 */
	u8 token;

	spinlock_t lock;		/* the rest, and the entries */
	unsigned long busy;		/* slots handed out */
	unsigned long abandoned;	/* of these, whose caller gave up */
	struct vcx_cmd *active[VCX_CMD_MAX_SLOTS];

	struct semaphore regular;	/* counts free slots but the last */
	struct semaphore pages;		/* the last slot */
};

int vcx_cmdq_init(struct vcx_dev *dev);
void vcx_cmdq_fini(struct vcx_dev *dev);
void vcx_cmdq_use_events(struct vcx_dev *dev, bool events);
void vcx_cmdq_completed(struct vcx_dev *dev, u32 slots);
void vcx_cmdq_abort(struct vcx_dev *dev);

/* A device that does not know the command is no reason for a message. */
#define VCX_CMD_OPTIONAL	0x1

int vcx_cmd_exec_flags(struct vcx_dev *dev, const void *in, size_t in_bytes,
		       void *out, size_t out_bytes, unsigned int flags);

/*
 * Runs one command; process context. The input begins with struct vcx_cmd_in,
 * the output with struct vcx_cmd_out. Returns 0 or a negative errno, and has
 * then logged the opcode, status and syndrome.
 */
static inline int vcx_cmd_exec(struct vcx_dev *dev, const void *in,
			       size_t in_bytes, void *out, size_t out_bytes)
{
	return vcx_cmd_exec_flags(dev, in, in_bytes, out, out_bytes, 0);
}

const char *vcx_cmd_opcode_name(u16 opcode);
int vcx_cmd_status_to_errno(u8 status);
const char *vcx_cmd_status_name(u8 status);
int vcx_cmd_delivery_to_errno(u8 delivery);

#endif /* VCX_CMD_QUEUE_H */
