// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * cmd.c - the command queue.
 *
 * A command and its mailboxes have two owners: the caller, and the slot while
 * the device may still write there. A caller that gives up (time-out) drops
 * only its own reference: the slot stays taken, and its memory alive, until the
 * device completes it after all or its DMA is switched off. A time-out also is
 * the end of the device, see health.c.
 */
#include <linux/bitops.h>
#include <linux/delay.h>
#include <linux/dma-mapping.h>
#include <linux/dmapool.h>
#include <linux/jiffies.h>
#include <linux/kref.h>
#include <linux/slab.h>
#include <vcx/cmd.h>
#include <vcx/cmd_layout.h>

#include "vcx.h"

#define VCX_CMD_DEFAULT_TIMEOUT_MS	60000
#define VCX_CMD_POLL_USECS		50
/* Mailboxes must not cross a page. */
#define VCX_CMD_MAILBOX_STRIDE		1024

/* A mailbox and where the device sees it. */
struct vcx_mailbox {
	struct vcx_cmd_mailbox *box;
	dma_addr_t addr;
};

struct vcx_cmd {
	struct kref ref;
	struct vcx_cmdq *q;
	struct completion done;
	u16 opcode;
	u8 token;
	u8 delivery;
	int err;			/* set when the device is dead */
	u32 in_bytes;
	u32 out_bytes;
	u8 first_in[VCX_CMD_INLINE_BYTES];
	u8 first_out[VCX_CMD_INLINE_BYTES];
	u32 num_in;			/* mailboxes of the input, first ones */
	u32 num_boxes;
	struct vcx_mailbox boxes[];
};

static u32 vcx_mailboxes_for(size_t bytes)
{
	if (bytes <= VCX_CMD_INLINE_BYTES)
		return 0;
	return DIV_ROUND_UP(bytes - VCX_CMD_INLINE_BYTES,
			    VCX_CMD_MAILBOX_BYTES);
}

static void vcx_cmd_release(struct kref *ref)
{
	struct vcx_cmd *cmd = container_of(ref, struct vcx_cmd, ref);
	u32 i;

	for (i = 0; i < cmd->num_boxes && cmd->boxes[i].box; i++)
		dma_pool_free(cmd->q->mailboxes, cmd->boxes[i].box,
			      cmd->boxes[i].addr);
	kvfree(cmd);
}

static void vcx_cmd_put(struct vcx_cmd *cmd)
{
	kref_put(&cmd->ref, vcx_cmd_release);
}

/* Chains boxes first .. first + n - 1, and stamps them with the token. */
static void vcx_cmd_link(struct vcx_cmd *cmd, u32 first, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++) {
		struct vcx_cmd_mailbox *box = cmd->boxes[first + i].box;

		box->block_num = cpu_to_be32(i);
		box->token = cmd->token;
		if (i + 1 < n)
			box->next = cpu_to_be64(cmd->boxes[first + i + 1].addr);
	}
}

static void vcx_cmd_copy_in(struct vcx_cmd *cmd, const void *in)
{
	size_t left = cmd->in_bytes, n = min_t(size_t, left,
					       VCX_CMD_INLINE_BYTES);
	u32 i;

	memcpy(cmd->first_in, in, n);
	for (i = 0; i < cmd->num_in; i++) {
		in += n;
		left -= n;
		n = min_t(size_t, left, VCX_CMD_MAILBOX_BYTES);
		memcpy(cmd->boxes[i].box->data, in, n);
	}
}

static void vcx_cmd_copy_out(const struct vcx_cmd *cmd, void *out)
{
	size_t left = cmd->out_bytes, n = min_t(size_t, left,
						VCX_CMD_INLINE_BYTES);
	u32 i;

	memcpy(out, cmd->first_out, n);
	for (i = cmd->num_in; i < cmd->num_boxes; i++) {
		out += n;
		left -= n;
		n = min_t(size_t, left, VCX_CMD_MAILBOX_BYTES);
		memcpy(out, cmd->boxes[i].box->data, n);
	}
}

static struct vcx_cmd *vcx_cmd_alloc(struct vcx_cmdq *q, const void *in,
				     size_t in_bytes, size_t out_bytes)
{
	const struct vcx_cmd_in *hdr = in;
	u32 num_in = vcx_mailboxes_for(in_bytes);
	u32 num_boxes = num_in + vcx_mailboxes_for(out_bytes);
	struct vcx_cmd *cmd;
	u32 i;

	cmd = kvzalloc(struct_size(cmd, boxes, num_boxes), GFP_KERNEL);
	if (!cmd)
		return NULL;
	kref_init(&cmd->ref);
	init_completion(&cmd->done);
	cmd->q = q;
	cmd->opcode = be16_to_cpu(hdr->opcode);
	cmd->in_bytes = in_bytes;
	cmd->out_bytes = out_bytes;
	cmd->num_in = num_in;
	cmd->num_boxes = num_boxes;

	for (i = 0; i < num_boxes; i++) {
		cmd->boxes[i].box = dma_pool_zalloc(q->mailboxes, GFP_KERNEL,
						    &cmd->boxes[i].addr);
		if (!cmd->boxes[i].box) {
			vcx_cmd_put(cmd);
			return NULL;
		}
	}
	vcx_cmd_copy_in(cmd, in);
	return cmd;
}

static struct vcx_cmd_entry *vcx_cmdq_entry(struct vcx_cmdq *q,
					    unsigned int slot)
{
	return q->entries + (slot << q->log_stride);
}

static struct semaphore *vcx_cmdq_semaphore(struct vcx_cmdq *q,
					    unsigned int slot)
{
	return slot == q->num_slots - 1 ? &q->pages : &q->regular;
}

/*
 * If the device has given the slot back, ends its command: wakes the caller,
 * or frees what the caller has abandoned. False: not yet.
 */
static bool vcx_cmdq_finish(struct vcx_cmdq *q, unsigned int slot)
{
	struct vcx_cmd_entry *entry = vcx_cmdq_entry(q, slot);
	struct vcx_cmd *cmd;
	unsigned long flags;

	spin_lock_irqsave(&q->lock, flags);
	cmd = q->active[slot];
	if (!cmd || READ_ONCE(entry->status_own) & VCX_CMD_OWNER_DEVICE) {
		spin_unlock_irqrestore(&q->lock, flags);
		return false;
	}
	/* The device clears the owner bit after the rest of its answer. */
	dma_rmb();
	memcpy(cmd->first_out, entry->out, sizeof(cmd->first_out));
	cmd->delivery = entry->status_own >> 1;
	q->active[slot] = NULL;
	__clear_bit(slot, &q->abandoned);
	__clear_bit(slot, &q->busy);
	spin_unlock_irqrestore(&q->lock, flags);

	complete_all(&cmd->done);
	vcx_cmd_put(cmd);
	up(vcx_cmdq_semaphore(q, slot));
	return true;
}

/*
 * Slots whose caller gave up and that the device has completed since without
 * anybody being told: when polling, or when the event was lost.
 */
static void vcx_cmdq_reap(struct vcx_cmdq *q)
{
	unsigned long slots = READ_ONCE(q->abandoned);
	unsigned int slot;

	for_each_set_bit(slot, &slots, VCX_CMD_MAX_SLOTS)
		vcx_cmdq_finish(q, slot);
}

/* Takes a slot for the command, fills it in and rings. */
static int vcx_cmdq_post(struct vcx_dev *dev, struct vcx_cmd *cmd,
			 unsigned int *slot)
{
	struct vcx_cmdq *q = &dev->cmdq;
	bool pages = cmd->opcode == VCX_CMD_MANAGE_PAGES;
	struct semaphore *sem = pages ? &q->pages : &q->regular;
	struct vcx_cmd_entry *entry;
	unsigned long flags;

	if (READ_ONCE(q->abandoned))
		vcx_cmdq_reap(q);
	if (down_timeout(sem, q->timeout))
		return -ETIMEDOUT;

	spin_lock_irqsave(&q->lock, flags);
	/* After abort nobody would end this command. */
	if (vcx_dev_is_dead(dev)) {
		spin_unlock_irqrestore(&q->lock, flags);
		up(sem);
		return -EIO;
	}
	*slot = pages ? q->num_slots - 1 :
			find_first_zero_bit(&q->busy, q->num_slots - 1);
	__set_bit(*slot, &q->busy);
	q->active[*slot] = cmd;
	kref_get(&cmd->ref);
	if (!++q->token)
		q->token = 1;
	cmd->token = q->token;
	vcx_cmd_link(cmd, 0, cmd->num_in);
	vcx_cmd_link(cmd, cmd->num_in, cmd->num_boxes - cmd->num_in);

	entry = vcx_cmdq_entry(q, *slot);
	memset(entry, 0, sizeof(*entry));
	entry->type = VCX_CMD_TYPE_PCIE;
	entry->in_bytes = cpu_to_be32(cmd->in_bytes);
	entry->out_bytes = cpu_to_be32(cmd->out_bytes);
	entry->token = cmd->token;
	memcpy(entry->in, cmd->first_in, sizeof(entry->in));
	if (cmd->num_in)
		entry->in_mailbox = cpu_to_be64(cmd->boxes[0].addr);
	if (cmd->num_boxes > cmd->num_in)
		entry->out_mailbox =
			cpu_to_be64(cmd->boxes[cmd->num_in].addr);
	entry->status_own = VCX_CMD_OWNER_DEVICE;
	/* The device reads the entry when the doorbell arrives. */
	wmb();
	iowrite32be(BIT(*slot), &dev->seg->cmd_dbell);
	spin_unlock_irqrestore(&q->lock, flags);
	return 0;
}

/* The caller of the command in the slot goes away without its answer. */
static void vcx_cmdq_abandon(struct vcx_cmdq *q, unsigned int slot,
			     struct vcx_cmd *cmd)
{
	unsigned long flags;

	spin_lock_irqsave(&q->lock, flags);
	if (q->active[slot] == cmd)
		__set_bit(slot, &q->abandoned);
	spin_unlock_irqrestore(&q->lock, flags);
}

static void vcx_cmd_poll(struct vcx_dev *dev, struct vcx_cmd *cmd,
			 unsigned int slot)
{
	unsigned long end = jiffies + dev->cmdq.timeout;

	while (!completion_done(&cmd->done)) {
		if (vcx_cmdq_finish(&dev->cmdq, slot))
			break;
		if (vcx_dev_is_gone(dev))
			vcx_dev_fail(dev, VCX_GONE);
		if (time_after(jiffies, end))
			break;
		usleep_range(VCX_CMD_POLL_USECS, 2 * VCX_CMD_POLL_USECS);
	}
}

static int vcx_cmd_wait(struct vcx_dev *dev, struct vcx_cmd *cmd,
			unsigned int slot)
{
	struct vcx_cmdq *q = &dev->cmdq;

	if (q->events)
		wait_for_completion_timeout(&cmd->done, q->timeout);
	else
		vcx_cmd_poll(dev, cmd, slot);

	if (!completion_done(&cmd->done) && vcx_cmdq_finish(q, slot))
		dev_warn(&dev->pdev->dev,
			 "%s completed, but its event was lost\n",
			 vcx_cmd_opcode_name(cmd->opcode));
	if (!completion_done(&cmd->done)) {
		vcx_cmdq_abandon(q, slot, cmd);
		dev_err(&dev->pdev->dev, "%s was not answered within %u s\n",
			vcx_cmd_opcode_name(cmd->opcode),
			jiffies_to_msecs(q->timeout) / 1000);
		/*
		 * What it did or did not do, or does yet, is unknown from here
		 * on: it must not reach memory that the caller frees now.
		 */
		vcx_dev_fail(dev, "it does not answer");
		pci_clear_master(dev->pdev);
		return -ETIMEDOUT;
	}
	return cmd->err;
}

static int vcx_cmd_check(struct vcx_dev *dev, const struct vcx_cmd *cmd,
			 unsigned int flags)
{
	const struct vcx_cmd_out *out = (const void *)cmd->first_out;
	const char *name = vcx_cmd_opcode_name(cmd->opcode);
	int err = vcx_cmd_delivery_to_errno(cmd->delivery);

	if (err) {
		dev_err(&dev->pdev->dev, "%s was not taken: delivery status %#x\n",
			name, cmd->delivery);
		return err;
	}
	err = vcx_cmd_status_to_errno(out->status);
	if (err == -EOPNOTSUPP && flags & VCX_CMD_OPTIONAL)
		return err;
	if (err)
		dev_warn_ratelimited(&dev->pdev->dev,
				     "%s failed: %s (status %#x, syndrome %#x)\n",
				     name, vcx_cmd_status_name(out->status),
				     out->status, be32_to_cpu(out->syndrome));
	return err;
}

int vcx_cmd_exec_flags(struct vcx_dev *dev, const void *in, size_t in_bytes,
		       void *out, size_t out_bytes, unsigned int flags)
{
	struct vcx_cmd *cmd;
	unsigned int slot;
	int err;

	might_sleep();
	if (vcx_dev_is_dead(dev))
		return -EIO;

	cmd = vcx_cmd_alloc(&dev->cmdq, in, in_bytes, out_bytes);
	if (!cmd)
		return -ENOMEM;
	err = vcx_cmdq_post(dev, cmd, &slot);
	if (!err)
		err = vcx_cmd_wait(dev, cmd, slot);
	if (!err) {
		vcx_cmd_copy_out(cmd, out);
		err = vcx_cmd_check(dev, cmd, flags);
	}
	vcx_cmd_put(cmd);
	return err;
}

/* The command event queue reports slots; the device may lie about them. */
void vcx_cmdq_completed(struct vcx_dev *dev, u32 slots)
{
	unsigned long set = slots;
	unsigned int slot;

	for_each_set_bit(slot, &set, dev->cmdq.num_slots)
		vcx_cmdq_finish(&dev->cmdq, slot);
}

/*
 * Switches between polling and events. Waits until no command is under way,
 * since nobody would poll for one that was posted for an event, or the other
 * way round. Slots that never come back are given up after the time-out.
 */
void vcx_cmdq_use_events(struct vcx_dev *dev, bool events)
{
	struct vcx_cmdq *q = &dev->cmdq;
	unsigned int held = 0;
	bool pages;

	pages = !down_timeout(&q->pages, q->timeout);
	while (held < q->num_slots - 1 &&
	       !down_timeout(&q->regular, held ? HZ : q->timeout))
		held++;
	WRITE_ONCE(q->events, events);
	while (held--)
		up(&q->regular);
	if (pages)
		up(&q->pages);
}

/*
 * Ends every command with -EIO. The device's DMA is off, so the memory of
 * abandoned ones goes as well.
 */
void vcx_cmdq_abort(struct vcx_dev *dev)
{
	struct vcx_cmdq *q = &dev->cmdq;
	struct vcx_cmd *cmd;
	unsigned int slot;
	unsigned long flags;

	for (slot = 0; slot < q->num_slots; slot++) {
		spin_lock_irqsave(&q->lock, flags);
		cmd = q->active[slot];
		q->active[slot] = NULL;
		__clear_bit(slot, &q->abandoned);
		__clear_bit(slot, &q->busy);
		spin_unlock_irqrestore(&q->lock, flags);
		if (!cmd)
			continue;
		cmd->err = -EIO;
		complete_all(&cmd->done);
		vcx_cmd_put(cmd);
		up(vcx_cmdq_semaphore(q, slot));
	}
}

/* The device states how long a command may take; 0 leaves it to us. */
static unsigned long vcx_cmd_timeout(u32 reg)
{
	static const u32 unit_ms[] = { 1, 1000, 60 * 1000, 60 * 60 * 1000 };
	u32 value = reg & 0xfffff, unit = reg >> 29;

	if (!value || unit >= ARRAY_SIZE(unit_ms))
		return msecs_to_jiffies(VCX_CMD_DEFAULT_TIMEOUT_MS);
	return msecs_to_jiffies(min_t(u64, (u64)value * unit_ms[unit],
				      60 * 60 * 1000));
}

/* Reads what the device says about the queue. */
static int vcx_cmdq_probe(struct vcx_dev *dev)
{
	struct vcx_cmdq *q = &dev->cmdq;
	u32 rev = ioread32be(&dev->seg->cmdif_rev_fw_sub) >> 16;
	u32 sizes = ioread32be(&dev->seg->cmdq_addr_l_sz);
	u32 log_slots = VCX_CMDQ_LOG_SLOTS(sizes);

	if (rev != VCX_CMDIF_REV) {
		dev_err(&dev->pdev->dev,
			"command interface revision %u, the driver knows %u\n",
			rev, VCX_CMDIF_REV);
		return -EOPNOTSUPP;
	}
	q->log_stride = VCX_CMDQ_LOG_STRIDE(sizes);
	if (log_slots < 1 || log_slots > ilog2(VCX_CMD_MAX_SLOTS) ||
	    q->log_stride < ilog2(sizeof(struct vcx_cmd_entry)) ||
	    log_slots + q->log_stride > VCX_LOG_PAGE_BYTES) {
		dev_err(&dev->pdev->dev,
			"command queue of 2^%u slots, 2^%u bytes each, cannot be used\n",
			log_slots, q->log_stride);
		return -EINVAL;
	}
	q->num_slots = BIT(log_slots);
	q->timeout = vcx_cmd_timeout(ioread32be(&dev->seg->cmd_exec_to));
	return 0;
}

int vcx_cmdq_init(struct vcx_dev *dev)
{
	struct vcx_cmdq *q = &dev->cmdq;
	struct device *dma_dev = &dev->pdev->dev;
	int err;

	err = vcx_cmdq_probe(dev);
	if (err)
		return err;
	spin_lock_init(&q->lock);
	sema_init(&q->regular, q->num_slots - 1);
	sema_init(&q->pages, 1);

	q->mailboxes = dma_pool_create("vcx_mailbox", dma_dev,
				       sizeof(struct vcx_cmd_mailbox),
				       VCX_CMD_MAILBOX_STRIDE, 0);
	if (!q->mailboxes)
		return -ENOMEM;
	q->entries = dma_alloc_coherent(dma_dev, VCX_PAGE_BYTES, &q->addr,
					GFP_KERNEL);
	if (!q->entries) {
		err = -ENOMEM;
		goto err_pool;
	}
	/* The write of the low half starts the queue. */
	iowrite32be(upper_32_bits(q->addr), &dev->seg->cmdq_addr_h);
	iowrite32be(lower_32_bits(q->addr), &dev->seg->cmdq_addr_l_sz);
	return 0;

err_pool:
	dma_pool_destroy(q->mailboxes);
	return err;
}

/*
 * The device has been disabled or its DMA is off. A command that it never
 * answered keeps its memory no longer.
 */
void vcx_cmdq_fini(struct vcx_dev *dev)
{
	struct vcx_cmdq *q = &dev->cmdq;

	vcx_cmdq_abort(dev);
	dma_free_coherent(&dev->pdev->dev, VCX_PAGE_BYTES, q->entries, q->addr);
	dma_pool_destroy(q->mailboxes);
}
