// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * eq.c - interrupt vectors and event queues.
 *
 * Vector 0 serves the command queue and the asynchronous events, each further
 * vector one completion event queue, close to one CPU. With a single vector it
 * serves them all.
 *
 * Command and completion events are handled in the interrupt. Asynchronous
 * events are handled in its thread, where users of verbs expect them.
 *
 * An event queue interrupts once each time it is armed, and at once when it is
 * armed while it holds an event. So a handler may stop early, and always ends
 * by arming: nothing gets lost and nothing is starved.
 */
#include <linux/log2.h>
#include <linux/slab.h>

#include "vcx.h"

#define VCX_CMD_EQ_ENTRIES	64
#define VCX_ASYNC_EQ_ENTRIES	4096
#define VCX_COMP_EQ_ENTRIES	4096
#define VCX_EQ_BUDGET		256

#define VCX_ASYNC_EVENTS                                                       \
	(BIT_ULL(VCX_EVENT_PATH_MIGRATED) |                                    \
	 BIT_ULL(VCX_EVENT_COMM_ESTABLISHED) |                                 \
	 BIT_ULL(VCX_EVENT_SQ_DRAINED) |                                       \
	 BIT_ULL(VCX_EVENT_CQ_ERROR) |                                         \
	 BIT_ULL(VCX_EVENT_WQ_CATASTROPHIC) |                                  \
	 BIT_ULL(VCX_EVENT_PATH_MIGRATION_FAILED) |                            \
	 BIT_ULL(VCX_EVENT_PORT_CHANGE) |                                      \
	 BIT_ULL(VCX_EVENT_PAGE_REQUEST) |                                     \
	 BIT_ULL(VCX_EVENT_WQ_INVALID_REQUEST) |                               \
	 BIT_ULL(VCX_EVENT_WQ_ACCESS_ERROR) |                                  \
	 BIT_ULL(VCX_EVENT_LAST_WQE_REACHED))

/* ---- Entries ------------------------------------------------------------- */

static struct vcx_eqe *vcx_eq_entry(struct vcx_eq *eq, u32 counter)
{
	return vcx_buf_at(&eq->buf,
			  (counter & (eq->num_entries - 1)) * VCX_EQE_BYTES);
}

/* The next entry if the device has written it, else NULL. */
static struct vcx_eqe *vcx_eq_next(struct vcx_eq *eq)
{
	struct vcx_eqe *eqe = vcx_eq_entry(eq, eq->ci);

	if ((READ_ONCE(eqe->owner) & VCX_EQE_OWNER) !=
	    !!(eq->ci & eq->num_entries))
		return NULL;
	/* The device writes the owner bit after the rest of the entry. */
	dma_rmb();
	return eqe;
}

static void vcx_eq_arm(struct vcx_eq *eq)
{
	struct vcx_dev *dev = eq->dev;

	/* The entries up to ci have been read; the device may reuse them. */
	mb();
	iowrite32be(eq->eqn << 24 | (eq->ci & 0xffffff),
		    dev->uar.map + VCX_UAR_EQ_ARM);
}

static void vcx_eq_poll(struct vcx_eq *eq)
{
	unsigned int budget = VCX_EQ_BUDGET;
	struct vcx_eqe *eqe;

	while (budget-- && (eqe = vcx_eq_next(eq))) {
		eq->handle(eq, eqe);
		eq->ci++;
	}
	vcx_eq_arm(eq);
}

static void vcx_eq_unexpected(struct vcx_eq *eq, const struct vcx_eqe *eqe)
{
	dev_warn_ratelimited(&eq->dev->pdev->dev,
			     "unexpected event, type %#x sub type %#x, in queue %u\n",
			     eqe->type, eqe->sub_type, eq->eqn);
}

static void vcx_handle_cmd_event(struct vcx_eq *eq, const struct vcx_eqe *eqe)
{
	if (eqe->type == VCX_EVENT_COMMAND)
		vcx_cmdq_completed(eq->dev,
				   be32_to_cpu(eqe->data.command.slots));
	else
		vcx_eq_unexpected(eq, eqe);
}

static void vcx_handle_completion(struct vcx_eq *eq, const struct vcx_eqe *eqe)
{
	if (eqe->type == VCX_EVENT_COMPLETION)
		vcx_cq_completion(eq, be32_to_cpu(eqe->data.completion.cqn));
	else
		vcx_eq_unexpected(eq, eqe);
}

static void vcx_port_event(struct vcx_eq *eq, const struct vcx_eqe *eqe)
{
	struct vcx_dev *dev = eq->dev;
	struct ib_event event = {
		.device = &dev->ibdev,
		.element.port_num = VCX_PORT,
	};

	switch (eqe->sub_type) {
	case VCX_PORT_EVENT_ACTIVE:
		event.event = IB_EVENT_PORT_ACTIVE;
		break;
	case VCX_PORT_EVENT_DOWN:
	case VCX_PORT_EVENT_INITIALIZED:
		event.event = IB_EVENT_PORT_ERR;
		break;
	case VCX_PORT_EVENT_LID:
		event.event = IB_EVENT_LID_CHANGE;
		break;
	case VCX_PORT_EVENT_PKEY:
		event.event = IB_EVENT_PKEY_CHANGE;
		break;
	case VCX_PORT_EVENT_GUID:
		event.event = IB_EVENT_GID_CHANGE;
		break;
	case VCX_PORT_EVENT_CLIENT_REREGISTER:
		event.event = IB_EVENT_CLIENT_REREGISTER;
		break;
	default:
		vcx_eq_unexpected(eq, eqe);
		return;
	}
	if (vcx_may_dispatch(dev))
		ib_dispatch_event(&event);
}

static void vcx_handle_async(struct vcx_eq *eq, const struct vcx_eqe *eqe)
{
	switch (eqe->type) {
	case VCX_EVENT_PORT_CHANGE:
		vcx_port_event(eq, eqe);
		break;
	case VCX_EVENT_CQ_ERROR:
		vcx_cq_error(eq->dev, be32_to_cpu(eqe->data.cq_error.cqn),
			     eqe->data.cq_error.syndrome);
		break;
	case VCX_EVENT_PAGE_REQUEST:
		vcx_pages_request(eq->dev,
				  be32_to_cpu(eqe->data.pages.num_pages));
		break;
	case VCX_EVENT_PATH_MIGRATED:
	case VCX_EVENT_COMM_ESTABLISHED:
	case VCX_EVENT_SQ_DRAINED:
	case VCX_EVENT_WQ_CATASTROPHIC:
	case VCX_EVENT_PATH_MIGRATION_FAILED:
	case VCX_EVENT_WQ_INVALID_REQUEST:
	case VCX_EVENT_WQ_ACCESS_ERROR:
	case VCX_EVENT_LAST_WQE_REACHED:
		vcx_qp_event(eq->dev, eqe->type,
			     be32_to_cpu(eqe->data.qp.number));
		break;
	default:
		vcx_eq_unexpected(eq, eqe);
	}
}

/* ---- Interrupts ------------------------------------------------------------- */

static irqreturn_t vcx_irq_handler(int irq, void *data)
{
	struct vcx_irq *vector = data;
	irqreturn_t ret = IRQ_HANDLED;
	struct vcx_eq *eq;

	spin_lock(&vector->lock);
	list_for_each_entry(eq, &vector->eqs, entry)
		vcx_eq_poll(eq);
	if (vector->async && vcx_eq_next(vector->async))
		ret = IRQ_WAKE_THREAD;
	spin_unlock(&vector->lock);
	return ret;
}

static irqreturn_t vcx_irq_thread(int irq, void *data)
{
	struct vcx_irq *vector = data;
	struct vcx_eq *eq = READ_ONCE(vector->async);

	/* Whoever clears it waits for this thread afterwards. */
	if (eq)
		vcx_eq_poll(eq);
	return IRQ_HANDLED;
}

static int vcx_irq_request(struct vcx_dev *dev, unsigned int i)
{
	struct vcx_irq *vector = &dev->irqs[i];

	vector->dev = dev;
	vector->irq = pci_irq_vector(dev->pdev, i);
	spin_lock_init(&vector->lock);
	INIT_LIST_HEAD(&vector->eqs);
	snprintf(vector->name, sizeof(vector->name), "vcx-%s@%s",
		 i ? "completion" : "async", pci_name(dev->pdev));
	return request_threaded_irq(vector->irq, vcx_irq_handler,
				    i ? NULL : vcx_irq_thread, 0, vector->name,
				    vector);
}

int vcx_irqs_init(struct vcx_dev *dev)
{
	struct irq_affinity affinity = { .pre_vectors = 1 };
	unsigned int i, max;
	int num, err;

	/* Two event queues are not for completions. */
	max = min(num_online_cpus(), dev->caps.max_eqs - 2) + 1;
	num = pci_alloc_irq_vectors_affinity(dev->pdev, 1, max,
					     PCI_IRQ_MSIX | PCI_IRQ_AFFINITY,
					     &affinity);
	if (num < 0) {
		dev_err(&dev->pdev->dev, "no MSI-X vector: %d\n", num);
		return num;
	}
	dev->irqs = kcalloc(num, sizeof(*dev->irqs), GFP_KERNEL);
	if (!dev->irqs) {
		err = -ENOMEM;
		goto err_vectors;
	}
	for (i = 0; i < num; i++) {
		err = vcx_irq_request(dev, i);
		if (err)
			goto err_irqs;
	}
	dev->num_irqs = num;
	return 0;

err_irqs:
	while (i--)
		free_irq(dev->irqs[i].irq, &dev->irqs[i]);
	kfree(dev->irqs);
err_vectors:
	pci_free_irq_vectors(dev->pdev);
	return err;
}

void vcx_irqs_fini(struct vcx_dev *dev)
{
	while (dev->num_irqs--)
		free_irq(dev->irqs[dev->num_irqs].irq,
			 &dev->irqs[dev->num_irqs]);
	kfree(dev->irqs);
	pci_free_irq_vectors(dev->pdev);
}

/* ---- Event queues --------------------------------------------------------------- */

struct vcx_eq_desc {
	u32 num_entries;
	u64 event_mask;
	unsigned int vector;
	void (*handle)(struct vcx_eq *eq, const struct vcx_eqe *eqe);
};

static int vcx_eq_create(struct vcx_dev *dev, struct vcx_eq *eq,
			 const struct vcx_eq_desc *desc)
{
	struct vcx_eq_params params = {
		.uar = dev->uar.index,
		.vector = desc->vector,
		.log_size = ilog2(desc->num_entries),
		.event_mask = desc->event_mask,
	};
	u32 i;
	int err;

	eq->dev = dev;
	eq->irq = &dev->irqs[desc->vector];
	eq->handle = desc->handle;
	eq->num_entries = desc->num_entries;
	eq->ci = 0;
	err = vcx_buf_alloc(dev, &eq->buf, desc->num_entries * VCX_EQE_BYTES);
	if (err)
		return err;
	for (i = 0; i < eq->num_entries; i++)
		vcx_eq_entry(eq, i)->owner = VCX_EQE_OWNER;

	params.pages = vcx_buf_pages(&eq->buf);
	err = vcx_fw_create_eq(dev, &params, &eq->eqn);
	if (err)
		goto err_free;
	xa_init_flags(&eq->cqs, XA_FLAGS_LOCK_IRQ);

	spin_lock_irq(&eq->irq->lock);
	if (desc->handle == vcx_handle_async)
		eq->irq->async = eq;
	else
		list_add_tail(&eq->entry, &eq->irq->eqs);
	vcx_eq_arm(eq);
	spin_unlock_irq(&eq->irq->lock);
	return 0;

err_free:
	vcx_buf_free(&eq->buf);
	return err;
}

static void vcx_eq_destroy(struct vcx_eq *eq)
{
	struct vcx_dev *dev = eq->dev;
	int err;

	err = vcx_fw_destroy_eq(dev, eq->eqn);

	spin_lock_irq(&eq->irq->lock);
	if (eq->irq->async == eq)
		WRITE_ONCE(eq->irq->async, NULL);
	else
		list_del(&eq->entry);
	spin_unlock_irq(&eq->irq->lock);
	synchronize_irq(eq->irq->irq);

	/* The device would go on writing into memory that is free. */
	if (vcx_destroy_result(dev, err)) {
		vcx_dev_fail(dev, "it did not destroy an event queue");
		pci_clear_master(dev->pdev);
	}
	xa_destroy(&eq->cqs);
	vcx_buf_free(&eq->buf);
}

static int vcx_comp_eqs_init(struct vcx_dev *dev)
{
	struct vcx_eq_desc desc = {
		.num_entries = VCX_COMP_EQ_ENTRIES,
		.handle = vcx_handle_completion,
	};
	unsigned int num = max(dev->num_irqs - 1, 1u);
	int err;

	dev->comp_eqs = kcalloc(num, sizeof(*dev->comp_eqs), GFP_KERNEL);
	if (!dev->comp_eqs)
		return -ENOMEM;
	while (dev->num_comp_eqs < num) {
		desc.vector = dev->num_irqs > 1 ? dev->num_comp_eqs + 1 : 0;
		err = vcx_eq_create(dev, &dev->comp_eqs[dev->num_comp_eqs],
				    &desc);
		if (err)
			goto err_destroy;
		dev->num_comp_eqs++;
	}
	return 0;

err_destroy:
	while (dev->num_comp_eqs)
		vcx_eq_destroy(&dev->comp_eqs[--dev->num_comp_eqs]);
	kfree(dev->comp_eqs);
	return err;
}

int vcx_eqs_init(struct vcx_dev *dev)
{
	static const struct vcx_eq_desc cmd_desc = {
		.num_entries = VCX_CMD_EQ_ENTRIES,
		.event_mask = BIT_ULL(VCX_EVENT_COMMAND),
		.handle = vcx_handle_cmd_event,
	};
	static const struct vcx_eq_desc async_desc = {
		.num_entries = VCX_ASYNC_EQ_ENTRIES,
		.event_mask = VCX_ASYNC_EVENTS,
		.handle = vcx_handle_async,
	};
	int err;

	err = vcx_eq_create(dev, &dev->cmd_eq, &cmd_desc);
	if (err)
		return err;
	vcx_cmdq_use_events(dev, true);
	err = vcx_eq_create(dev, &dev->async_eq, &async_desc);
	if (err)
		goto err_cmd;
	err = vcx_comp_eqs_init(dev);
	if (err)
		goto err_async;
	return 0;

err_async:
	vcx_eq_destroy(&dev->async_eq);
err_cmd:
	vcx_cmdq_use_events(dev, false);
	vcx_eq_destroy(&dev->cmd_eq);
	return err;
}

void vcx_eqs_fini(struct vcx_dev *dev)
{
	while (dev->num_comp_eqs)
		vcx_eq_destroy(&dev->comp_eqs[--dev->num_comp_eqs]);
	kfree(dev->comp_eqs);
	vcx_eq_destroy(&dev->async_eq);
	/* The queue that reports commands cannot report its own end. */
	vcx_cmdq_use_events(dev, false);
	vcx_eq_destroy(&dev->cmd_eq);
}

const struct cpumask *vcx_get_vector_affinity(struct ib_device *ibdev,
					      int comp_vector)
{
	struct vcx_dev *dev = to_vcx_dev(ibdev);

	if (dev->num_irqs == 1)
		return NULL;
	return pci_irq_get_affinity(dev->pdev, comp_vector + 1);
}
