// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * health.c - is the device alive, and what happens when it is not.
 *
 * The fatal path, once, in this order:
 *   1. dead is set: commands fail at once with -EIO, doorbells are not rung;
 *   2. bus mastering is switched off, so that all memory is ours again;
 *   3. commands under way end with -EIO;
 *   4. IB_EVENT_DEVICE_FATAL tells the users;
 *   5. kernel completion queues are kicked: what was posted there ends as
 *      flushed, in software, so that drains come to their end.
 * Objects can then be destroyed as usual. A device is brought back by unbinding
 * and binding the driver; the unbind resets the function.
 */
#include <linux/jiffies.h>

#include "vcx.h"

#define VCX_HEALTH_PERIOD	(2 * HZ)
#define VCX_HEALTH_MAX_MISSES	3

/*
 * A function that left the bus, or whose memory is off, reads as all ones or as
 * zero, but not as the revision that probe has found.
 */
bool vcx_dev_is_gone(struct vcx_dev *dev)
{
	return ioread32be(&dev->seg->cmdif_rev_fw_sub) >> 16 != VCX_CMDIF_REV;
}

/* Why the device is beyond help; NULL: it is not. */
static const char *vcx_health_check(struct vcx_dev *dev)
{
	struct vcx_health_buffer __iomem *health = &dev->seg->health;
	u32 nic_state;

	if (vcx_dev_is_gone(dev))
		return VCX_GONE;
	nic_state = VCX_CMDQ_NIC_STATE(ioread32be(&dev->seg->cmdq_addr_l_sz));
	if (nic_state == VCX_NIC_STATE_DISABLED)
		return "it has disabled itself";
	if (nic_state == VCX_NIC_STATE_SW_RESET)
		return "it has been reset";
	if (ioread8(&health->rfr_severity) & VCX_HEALTH_RFR &&
	    ioread8(&health->synd))
		return "it reports a fatal error";
	return NULL;
}

static void vcx_health_poll(struct timer_list *timer)
{
	struct vcx_dev *dev = container_of(timer, struct vcx_dev, health.timer);
	struct vcx_health *health = &dev->health;
	const char *reason = vcx_health_check(dev);
	u32 counter;

	if (reason) {
		vcx_dev_fail(dev, reason);
		return;
	}
	counter = ioread32be(&dev->seg->health_counter);
	if (counter != health->last_counter)
		health->misses = 0;
	else if (++health->misses == VCX_HEALTH_MAX_MISSES)
		dev_warn(&dev->pdev->dev,
			 "the health counter has stopped at %u\n", counter);
	health->last_counter = counter;
	mod_timer(timer, jiffies + VCX_HEALTH_PERIOD);
}

static void vcx_health_report(struct vcx_dev *dev)
{
	struct vcx_health_buffer __iomem *health = &dev->seg->health;

	dev_err(&dev->pdev->dev, "the device has failed: %s\n",
		dev->health.reason);
	if (vcx_dev_is_gone(dev))
		return;
	dev_err(&dev->pdev->dev,
		"syndrome %#x (%#x), exit %#x, caller %#x, severity %#x\n",
		ioread8(&health->synd), ioread16be(&health->ext_synd),
		ioread32be(&health->assert_exit_ptr),
		ioread32be(&health->assert_callra),
		ioread8(&health->rfr_severity));
}

static void vcx_fatal_work(struct work_struct *work)
{
	struct vcx_dev *dev = container_of(work, struct vcx_dev,
					   health.fatal_work);
	struct ib_event event = {
		.device = &dev->ibdev,
		.event = IB_EVENT_DEVICE_FATAL,
		.element.port_num = VCX_PORT,
	};

	pci_clear_master(dev->pdev);
	vcx_health_report(dev);
	vcx_cmdq_abort(dev);
	if (vcx_may_dispatch(dev))
		ib_dispatch_event(&event);
	vcx_flush_kick(dev);
}

static void vcx_flush_work(struct work_struct *work)
{
	struct vcx_dev *dev = container_of(work, struct vcx_dev,
					   health.flush_work);

	if (READ_ONCE(dev->ib_registered))
		vcx_cqs_kick(dev);
}

/* Something was posted to a dead device; any context. */
void vcx_flush_kick(struct vcx_dev *dev)
{
	queue_work(system_unbound_wq, &dev->health.flush_work);
}

/* Gives the device up. Any context, any number of times. */
void vcx_dev_fail(struct vcx_dev *dev, const char *reason)
{
	if (xchg(&dev->dead, true))
		return;
	dev->health.reason = reason;
	queue_work(system_unbound_wq, &dev->health.fatal_work);
}

void vcx_health_init(struct vcx_dev *dev)
{
	INIT_WORK(&dev->health.fatal_work, vcx_fatal_work);
	INIT_WORK(&dev->health.flush_work, vcx_flush_work);
	timer_setup(&dev->health.timer, vcx_health_poll, 0);
}

void vcx_health_start(struct vcx_dev *dev)
{
	mod_timer(&dev->health.timer, jiffies + VCX_HEALTH_PERIOD);
}

/*
 * The last user of the device: no command, queue or doorbell follows that could
 * start one of these again.
 */
void vcx_health_stop(struct vcx_dev *dev)
{
	del_timer_sync(&dev->health.timer);
	cancel_work_sync(&dev->health.fatal_work);
	cancel_work_sync(&dev->health.flush_work);
}
