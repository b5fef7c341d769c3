// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * counters.c - hardware counters of the port: the counter set that all queue
 * pairs of the driver are attached to. A device without counter sets has none.
 */
#include <vcx/cmd_layout.h>

#include "vcx.h"

static const struct rdma_stat_desc vcx_stat_descs[] = {
	{ .name = "rx_write_requests" },
	{ .name = "rx_read_requests" },
	{ .name = "out_of_buffer" },
	{ .name = "out_of_sequence" },
	{ .name = "duplicate_request" },
	{ .name = "rnr_nak_retry_err" },
	{ .name = "packet_seq_err" },
	{ .name = "implied_nak_seq_err" },
	{ .name = "local_ack_timeout_err" },
	{ .name = "resp_local_length_error" },
	{ .name = "resp_cqe_error" },
	{ .name = "req_cqe_error" },
	{ .name = "req_remote_invalid_request" },
	{ .name = "req_remote_access_errors" },
	{ .name = "resp_remote_access_errors" },
	{ .name = "resp_cqe_flush_error" },
	{ .name = "req_cqe_flush_error" },
	{ .name = "req_transport_retries_exceeded" },
};

/* Where the device reports them, in the same order. */
static const u16 vcx_stat_offsets[] = {
	VCX_Q_COUNTER_RX_WRITE_REQUESTS,
	VCX_Q_COUNTER_RX_READ_REQUESTS,
	VCX_Q_COUNTER_OUT_OF_BUFFER,
	VCX_Q_COUNTER_OUT_OF_SEQUENCE,
	VCX_Q_COUNTER_DUPLICATE_REQUEST,
	VCX_Q_COUNTER_RNR_NAK_RETRY_ERR,
	VCX_Q_COUNTER_PACKET_SEQ_ERR,
	VCX_Q_COUNTER_IMPLIED_NAK_SEQ_ERR,
	VCX_Q_COUNTER_LOCAL_ACK_TIMEOUT_ERR,
	VCX_Q_COUNTER_RESP_LOCAL_LENGTH_ERROR,
	VCX_Q_COUNTER_RESP_CQE_ERROR,
	VCX_Q_COUNTER_REQ_CQE_ERROR,
	VCX_Q_COUNTER_REQ_REMOTE_INVALID_REQUEST,
	VCX_Q_COUNTER_REQ_REMOTE_ACCESS_ERRORS,
	VCX_Q_COUNTER_RESP_REMOTE_ACCESS_ERRORS,
	VCX_Q_COUNTER_RESP_CQE_FLUSH_ERROR,
	VCX_Q_COUNTER_REQ_CQE_FLUSH_ERROR,
	VCX_Q_COUNTER_REQ_RETRIES_EXCEEDED,
};

static_assert(ARRAY_SIZE(vcx_stat_descs) == ARRAY_SIZE(vcx_stat_offsets));

void vcx_counters_init(struct vcx_dev *dev)
{
	int err;

	if (!dev->caps.counter_sets)
		return;
	err = vcx_fw_alloc_counter_set(dev, &dev->counter_set);
	if (err)
		dev_warn(&dev->pdev->dev, "no hardware counters: %d\n", err);
	dev->has_counter_set = !err;
}

void vcx_counters_fini(struct vcx_dev *dev)
{
	if (dev->has_counter_set)
		vcx_fw_dealloc_counter_set(dev, dev->counter_set);
	dev->has_counter_set = false;
}

struct rdma_hw_stats *vcx_alloc_hw_port_stats(struct ib_device *ibdev, u32 port)
{
	return rdma_alloc_hw_stats_struct(vcx_stat_descs,
					  ARRAY_SIZE(vcx_stat_descs),
					  RDMA_HW_STATS_DEFAULT_LIFESPAN);
}

int vcx_get_hw_stats(struct ib_device *ibdev, struct rdma_hw_stats *stats,
		     u32 port, int index)
{
	struct vcx_dev *dev = to_vcx_dev(ibdev);
	int err;

	if (port != VCX_PORT)
		return -EINVAL;
	err = vcx_fw_query_counter_set(dev, dev->counter_set, vcx_stat_offsets,
				       stats->value,
				       ARRAY_SIZE(vcx_stat_offsets));
	return err ? err : ARRAY_SIZE(vcx_stat_offsets);
}
