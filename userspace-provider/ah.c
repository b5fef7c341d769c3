// SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB)
/*
 * ah.c - address handles. The kernel checks the attributes and counts the
 * handle; the address vector, which a datagram's WQE takes as it is, is ours.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "vcx.h"

static void vcx_ah_to_av(const struct ibv_ah_attr *attr,
			 struct vcx_wqe_datagram *av)
{
	av->ext_qpn = htobe32(VCX_WQE_DATAGRAM_EXT);
	/* The port has one rate; a static rate of 0 is no limit. */
	av->stat_rate_sl = attr->sl;
	av->fl_mlid = attr->src_path_bits;
	av->rlid = htobe16(attr->dlid);
	if (!attr->is_global)
		return;
	av->tclass = attr->grh.traffic_class;
	av->hop_limit = attr->grh.hop_limit;
	av->grh = htobe32(VCX_WQE_GRH_PRESENT |
			  attr->grh.sgid_index << VCX_WQE_GRH_SGID_SHIFT |
			  attr->grh.flow_label);
	memcpy(av->rgid, attr->grh.dgid.raw, sizeof(av->rgid));
}

struct ibv_ah *vcx_create_ah(struct ibv_pd *ibpd, struct ibv_ah_attr *attr)
{
	struct ib_uverbs_create_ah_resp resp = {};
	struct vcx_ah *ah;
	int err;

	ah = calloc(1, sizeof(*ah));
	if (!ah) {
		errno = ENOMEM;
		return NULL;
	}
	err = ibv_cmd_create_ah(ibpd, &ah->ibah, attr, &resp, sizeof(resp));
	if (err) {
		free(ah);
		errno = err;
		return NULL;
	}
	vcx_ah_to_av(attr, &ah->av);
	ah->domain = to_vcx_parent_domain(ibpd);
	vcx_domain_hold(ah->domain);
	return &ah->ibah;
}

int vcx_destroy_ah(struct ibv_ah *ibah)
{
	struct vcx_ah *ah = to_vcx_ah(ibah);
	int err;

	err = ibv_cmd_destroy_ah(ibah);
	if (err)
		return err;
	vcx_domain_put(ah->domain);
	free(ah);
	return 0;
}
