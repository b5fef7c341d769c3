// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * main.c - PCI driver: brings the device up rung by rung, and takes it down in
 * the reverse order.
 *
 *   PCI function, BAR 0		vcx_pci_init	vcx_pci_fini
 *   firmware ready, command queue	vcx_cmd_start	vcx_cmd_stop
 *   ENABLE_HCA .. INIT_HCA		vcx_hca_start	vcx_hca_stop
 *   doorbell page, interrupts, EQs	vcx_queues_start vcx_queues_stop
 *   verbs device			vcx_ib_register	vcx_ib_unregister
 */
#include <linux/delay.h>
#include <linux/dma-mapping.h>
#include <linux/dmapool.h>
#include <linux/module.h>
#include <linux/sizes.h>

#include "vcx.h"

#define VCX_FW_READY_TIMEOUT_MS	120000
#define VCX_FW_READY_POLL_MS	20
/* A doorbell record for each cache line: queues do not disturb each other. */
#define VCX_DBREC_ALIGN		64

/* ---- PCI function --------------------------------------------------------- */

static int vcx_pci_check_bar(struct pci_dev *pdev)
{
	if (!(pci_resource_flags(pdev, VCX_PCI_BAR) & IORESOURCE_MEM) ||
	    pci_resource_len(pdev, VCX_PCI_BAR) <=
	    VCX_UAR_FIRST_PAGE * VCX_PAGE_BYTES) {
		dev_err(&pdev->dev, "BAR %d is missing or too small\n",
			VCX_PCI_BAR);
		return -ENODEV;
	}
	return 0;
}

static int vcx_pci_init(struct vcx_dev *dev)
{
	struct pci_dev *pdev = dev->pdev;
	int err;

	err = pci_enable_device(pdev);
	if (err)
		return err;
	err = vcx_pci_check_bar(pdev);
	if (err)
		goto err_disable;
	err = pci_request_regions(pdev, KBUILD_MODNAME);
	if (err)
		goto err_disable;
	err = dma_set_mask_and_coherent(&pdev->dev, DMA_BIT_MASK(64));
	if (err)
		goto err_regions;
	/* Pages of user memory that lie together make one large segment. */
	dma_set_max_seg_size(&pdev->dev, SZ_2G);

	dev->seg = pci_iomap_range(pdev, VCX_PCI_BAR, 0, sizeof(*dev->seg));
	if (!dev->seg) {
		err = -ENOMEM;
		goto err_regions;
	}
	dev->dbrec_pool = dma_pool_create("vcx_dbrec", &pdev->dev,
					  2 * sizeof(__be32), VCX_DBREC_ALIGN,
					  0);
	if (!dev->dbrec_pool) {
		err = -ENOMEM;
		goto err_unmap;
	}
	pci_set_master(pdev);
	return 0;

err_unmap:
	pci_iounmap(pdev, dev->seg);
err_regions:
	pci_release_regions(pdev);
err_disable:
	pci_disable_device(pdev);
	return err;
}

static void vcx_pci_fini(struct vcx_dev *dev)
{
	struct pci_dev *pdev = dev->pdev;

	pci_clear_master(pdev);
	/* A device that failed is left as new for the next driver. */
	if (vcx_dev_is_dead(dev) && pci_device_is_present(pdev) &&
	    pci_reset_function_locked(pdev))
		dev_warn(&pdev->dev, "the device could not be reset\n");
	dma_pool_destroy(dev->dbrec_pool);
	pci_iounmap(pdev, dev->seg);
	pci_release_regions(pdev);
	pci_disable_device(pdev);
}

/* ---- Command queue ---------------------------------------------------------- */

static int vcx_wait_fw_ready(struct vcx_dev *dev)
{
	unsigned int waited = 0;

	while (ioread32be(&dev->seg->initializing) & VCX_INIT_BUSY) {
		if (waited >= VCX_FW_READY_TIMEOUT_MS) {
			dev_err(&dev->pdev->dev,
				"the device was not ready within %u s\n",
				VCX_FW_READY_TIMEOUT_MS / 1000);
			return -ETIMEDOUT;
		}
		msleep(VCX_FW_READY_POLL_MS);
		waited += VCX_FW_READY_POLL_MS;
	}
	return 0;
}

static int vcx_cmd_start(struct vcx_dev *dev)
{
	int err;

	err = vcx_wait_fw_ready(dev);
	if (err)
		return err;
	vcx_health_init(dev);
	err = vcx_cmdq_init(dev);
	if (err)
		return err;
	/* The address of the queue may have started the firmware. */
	err = vcx_wait_fw_ready(dev);
	if (err)
		goto err_cmdq;
	vcx_health_start(dev);
	return 0;

err_cmdq:
	pci_clear_master(dev->pdev);
	vcx_cmdq_fini(dev);
	return err;
}

static void vcx_cmd_stop(struct vcx_dev *dev)
{
	vcx_health_stop(dev);
	/* Nothing that the device still had to say reaches memory now. */
	pci_clear_master(dev->pdev);
	vcx_cmdq_fini(dev);
}

/* ---- HCA --------------------------------------------------------------------- */

static int vcx_check_caps(struct vcx_dev *dev)
{
	const struct vcx_caps *caps = &dev->caps;
	const char *missing = NULL;

	if (caps->num_ports != 1)
		missing = "exactly one port";
	else if (!caps->port_is_ib)
		missing = "an InfiniBand link";
	else if (!caps->rc)
		missing = "reliable connections";
	else if (caps->max_eqs < 3)
		missing = "three event queues";
	else if (caps->log_max_msg > 31)
		missing = "a message size below 4 GiB";
	if (!missing)
		return 0;
	dev_err(&dev->pdev->dev, "the driver needs a device with %s\n",
		missing);
	return -EOPNOTSUPP;
}

/* ENABLE_HCA to INIT_HCA, with the pages that the device wants. */
static int vcx_hca_init(struct vcx_dev *dev)
{
	int err;

	err = vcx_fw_set_issi(dev);
	if (!err)
		err = vcx_pages_supply(dev, VCX_PAGES_BOOT);
	if (!err)
		err = vcx_fw_set_caps(dev);
	if (!err)
		err = vcx_pages_supply(dev, VCX_PAGES_INIT);
	if (!err)
		err = vcx_fw_init_hca(dev);
	return err;
}

static void vcx_hca_disable(struct vcx_dev *dev)
{
	vcx_pages_reclaim(dev);
	/* Left enabled, it would refuse the next driver. */
	if (vcx_fw_disable_hca(dev))
		vcx_dev_fail(dev, "it was not disabled");
	xa_destroy(&dev->pages);
}

static int vcx_hca_start(struct vcx_dev *dev)
{
	char board_id[VCX_BOARD_ID_BYTES];
	int err;

	xa_init(&dev->pages);
	err = vcx_fw_enable_hca(dev);
	if (err)
		return err;
	err = vcx_hca_init(dev);
	if (err)
		goto err_disable;
	err = vcx_fw_query_caps(dev, &dev->caps);
	if (err)
		goto err_teardown;
	err = vcx_check_caps(dev);
	if (err)
		goto err_teardown;
	err = vcx_fw_query_board_id(dev, board_id);
	if (err)
		goto err_teardown;
	dev_dbg(&dev->pdev->dev, "board %s\n", board_id);
	return 0;

err_teardown:
	vcx_fw_teardown_hca(dev);
err_disable:
	vcx_hca_disable(dev);
	return err;
}

static void vcx_hca_stop(struct vcx_dev *dev)
{
	if (vcx_fw_teardown_hca(dev))
		vcx_dev_fail(dev, "it was not torn down");
	vcx_hca_disable(dev);
}

/* ---- Queues ------------------------------------------------------------------ */

static int vcx_queues_start(struct vcx_dev *dev)
{
	int err;

	err = vcx_kernel_uar_init(dev);
	if (err)
		return err;
	err = vcx_irqs_init(dev);
	if (err)
		goto err_uar;
	err = vcx_eqs_init(dev);
	if (err)
		goto err_irqs;
	return 0;

err_irqs:
	vcx_irqs_fini(dev);
err_uar:
	vcx_kernel_uar_fini(dev);
	return err;
}

static void vcx_queues_stop(struct vcx_dev *dev)
{
	vcx_eqs_fini(dev);
	vcx_irqs_fini(dev);
	vcx_kernel_uar_fini(dev);
}

/* ---- Driver -------------------------------------------------------------------- */

static int vcx_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct vcx_dev *dev;
	int err;

	dev = ib_alloc_device(vcx_dev, ibdev);
	if (!dev)
		return -ENOMEM;
	dev->pdev = pdev;
	pci_set_drvdata(pdev, dev);

	err = vcx_pci_init(dev);
	if (err)
		goto err_dealloc;
	err = vcx_cmd_start(dev);
	if (err)
		goto err_pci;
	err = vcx_hca_start(dev);
	if (err)
		goto err_cmd;
	err = vcx_queues_start(dev);
	if (err)
		goto err_hca;
	err = vcx_ib_register(dev);
	if (err)
		goto err_queues;
	return 0;

err_queues:
	vcx_queues_stop(dev);
err_hca:
	vcx_hca_stop(dev);
err_cmd:
	vcx_cmd_stop(dev);
err_pci:
	vcx_pci_fini(dev);
err_dealloc:
	ib_dealloc_device(&dev->ibdev);
	return dev_err_probe(&pdev->dev, err, "the device cannot be used\n");
}

static void vcx_remove(struct pci_dev *pdev)
{
	struct vcx_dev *dev = pci_get_drvdata(pdev);

	/* After a surprise removal, do not wait for answers. */
	if (vcx_dev_is_gone(dev))
		vcx_dev_fail(dev, VCX_GONE);
	vcx_ib_unregister(dev);
	vcx_queues_stop(dev);
	vcx_hca_stop(dev);
	vcx_cmd_stop(dev);
	vcx_pci_fini(dev);
	ib_dealloc_device(&dev->ibdev);
}

/*
 * The machine goes down or another kernel takes over: the users of the device
 * stay, but it must not touch memory any more, and be ready for a new driver.
 */
static void vcx_shutdown(struct pci_dev *pdev)
{
	struct vcx_dev *dev = pci_get_drvdata(pdev);

	/* With the HCA goes the event queue that would tell of the command. */
	vcx_cmdq_use_events(dev, false);
	if (!vcx_fw_teardown_hca(dev))
		vcx_fw_disable_hca(dev);
	vcx_dev_fail(dev, "the system shuts down");
	vcx_health_stop(dev);
	pci_clear_master(pdev);
	vcx_cmdq_abort(dev);
}

/*
 * Somebody else resets the function. What the driver knows of the device is
 * void after that, so it is given up before, and bus mastering is already off
 * in the state that is restored.
 */
static void vcx_reset_prepare(struct pci_dev *pdev)
{
	struct vcx_dev *dev = pci_get_drvdata(pdev);

	vcx_dev_fail(dev, "it is being reset");
	flush_work(&dev->health.fatal_work);
}

static const struct pci_error_handlers vcx_pci_err_handler = {
	.reset_prepare = vcx_reset_prepare,
};

static const struct pci_device_id vcx_pci_table[] = {
	{ PCI_DEVICE(VCX_PCI_VENDOR_ID, VCX_PCI_DEVICE_ID) },
	{}
};
MODULE_DEVICE_TABLE(pci, vcx_pci_table);

static struct pci_driver vcx_pci_driver = {
	.name = KBUILD_MODNAME,
	.id_table = vcx_pci_table,
	.probe = vcx_probe,
	.remove = vcx_remove,
	.shutdown = vcx_shutdown,
	.err_handler = &vcx_pci_err_handler,
};
module_pci_driver(vcx_pci_driver);

MODULE_DESCRIPTION("vcx virtual RDMA adapter");
MODULE_AUTHOR("The vcx authors");
MODULE_LICENSE("Dual BSD/GPL");
