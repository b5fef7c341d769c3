/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// handlers.h - the function behind each opcode, in the order of the opcodes;
// dispatch.cc has the table. A handler gets its input whole and copied, and an
// output that is zero; it need not write the header of the output.
#ifndef VCX_CORE_CMD_HANDLERS_H_
#define VCX_CORE_CMD_HANDLERS_H_

#include "cmd/firmware.h"
#include "vcx/cmd_layout.h"

namespace vcx {

// cap.cc
CmdVerdict QueryHcaCap(Firmware& fw, const vcx_number_in& in, const Call& call,
                       vcx_query_hca_cap_out& out);
CmdVerdict SetHcaCap(Firmware& fw, const vcx_set_hca_cap_in& in,
                     const Call& call, vcx_number_out& out);

// hca.cc
CmdVerdict QueryAdapter(Firmware& fw, const vcx_number_in& in, const Call& call,
                        vcx_query_adapter_out& out);
CmdVerdict InitHca(Firmware& fw, const vcx_number_in& in, const Call& call,
                   vcx_number_out& out);
CmdVerdict TeardownHca(Firmware& fw, const vcx_number_in& in, const Call& call,
                       vcx_number_out& out);
CmdVerdict EnableHca(Firmware& fw, const vcx_number_in& in, const Call& call,
                     vcx_status_out& out);
CmdVerdict DisableHca(Firmware& fw, const vcx_number_in& in, const Call& call,
                      vcx_status_out& out);
CmdVerdict QueryIssi(Firmware& fw, const vcx_number_in& in, const Call& call,
                     vcx_query_issi_out& out);
CmdVerdict SetIssi(Firmware& fw, const vcx_set_issi_in& in, const Call& call,
                   vcx_number_out& out);

// page.cc
CmdVerdict QueryPages(Firmware& fw, const vcx_number_in& in, const Call& call,
                      vcx_query_pages_out& out);
CmdVerdict ManagePages(Firmware& fw, const vcx_manage_pages_in& in,
                       const Call& call, vcx_manage_pages_out& out);

// mkey.cc
CmdVerdict CreateMkey(Firmware& fw, const vcx_create_mkey_in& in,
                      const Call& call, vcx_number_out& out);
CmdVerdict QueryMkey(Firmware& fw, const vcx_number_in& in, const Call& call,
                     vcx_query_mkey_out& out);
CmdVerdict DestroyMkey(Firmware& fw, const vcx_number_in& in, const Call& call,
                       vcx_number_out& out);

// eq.cc
CmdVerdict CreateEq(Firmware& fw, const vcx_create_eq_in& in, const Call& call,
                    vcx_number_out& out);
CmdVerdict DestroyEq(Firmware& fw, const vcx_number_in& in, const Call& call,
                     vcx_number_out& out);
CmdVerdict QueryEq(Firmware& fw, const vcx_number_in& in, const Call& call,
                   vcx_query_eq_out& out);

// cq.cc
CmdVerdict CreateCq(Firmware& fw, const vcx_create_cq_in& in, const Call& call,
                    vcx_number_out& out);
CmdVerdict DestroyCq(Firmware& fw, const vcx_number_in& in, const Call& call,
                     vcx_number_out& out);
CmdVerdict QueryCq(Firmware& fw, const vcx_number_in& in, const Call& call,
                   vcx_query_cq_out& out);
CmdVerdict ModifyCq(Firmware& fw, const vcx_modify_cq_in& in, const Call& call,
                    vcx_number_out& out);

// qp.cc
CmdVerdict CreateQp(Firmware& fw, const vcx_qp_in& in, const Call& call,
                    vcx_number_out& out);
CmdVerdict DestroyQp(Firmware& fw, const vcx_number_in& in, const Call& call,
                     vcx_number_out& out);
CmdVerdict QueryQp(Firmware& fw, const vcx_number_in& in, const Call& call,
                   vcx_query_qp_out& out);

// qp_modify.cc: one function per transition that takes a context, and the
// others
CmdVerdict Rst2Init(Firmware& fw, const vcx_qp_in& in, const Call& call,
                    vcx_number_out& out);
CmdVerdict Init2Rtr(Firmware& fw, const vcx_qp_in& in, const Call& call,
                    vcx_number_out& out);
CmdVerdict Rtr2Rts(Firmware& fw, const vcx_qp_in& in, const Call& call,
                   vcx_number_out& out);
CmdVerdict Rts2Rts(Firmware& fw, const vcx_qp_in& in, const Call& call,
                   vcx_number_out& out);
CmdVerdict SqErr2Rts(Firmware& fw, const vcx_qp_in& in, const Call& call,
                     vcx_number_out& out);
CmdVerdict Sqd2Rts(Firmware& fw, const vcx_qp_in& in, const Call& call,
                   vcx_number_out& out);
CmdVerdict Init2Init(Firmware& fw, const vcx_qp_in& in, const Call& call,
                     vcx_number_out& out);
CmdVerdict ToErr(Firmware& fw, const vcx_number_in& in, const Call& call,
                 vcx_number_out& out);
CmdVerdict Rts2Sqd(Firmware& fw, const vcx_number_in& in, const Call& call,
                   vcx_number_out& out);
CmdVerdict ToRst(Firmware& fw, const vcx_number_in& in, const Call& call,
                 vcx_number_out& out);

// vport.cc
CmdVerdict QueryVportContext(Firmware& fw, const vcx_query_vport_in& in,
                             const Call& call,
                             vcx_query_vport_context_out& out);
CmdVerdict QueryVportGid(Firmware& fw, const vcx_query_vport_in& in,
                         const Call& call, vcx_query_vport_gid_out& out);
CmdVerdict QueryVportPkey(Firmware& fw, const vcx_query_vport_in& in,
                          const Call& call, vcx_query_vport_pkey_out& out);

// q_counter.cc
CmdVerdict AllocQCounter(Firmware& fw, const vcx_number_in& in,
                         const Call& call, vcx_number_out& out);
CmdVerdict DeallocQCounter(Firmware& fw, const vcx_number_in& in,
                           const Call& call, vcx_number_out& out);
CmdVerdict QueryQCounter(Firmware& fw, const vcx_query_q_counter_in& in,
                         const Call& call, vcx_query_q_counter_out& out);

// uar_pd.cc
CmdVerdict AllocPd(Firmware& fw, const vcx_number_in& in, const Call& call,
                   vcx_number_out& out);
CmdVerdict DeallocPd(Firmware& fw, const vcx_number_in& in, const Call& call,
                     vcx_number_out& out);
CmdVerdict AllocUar(Firmware& fw, const vcx_number_in& in, const Call& call,
                    vcx_number_out& out);
CmdVerdict DeallocUar(Firmware& fw, const vcx_number_in& in, const Call& call,
                      vcx_number_out& out);

// register.cc
CmdVerdict AccessRegister(Firmware& fw, const vcx_access_reg_in& in,
                          const Call& call, vcx_access_reg_out& out);

}  // namespace vcx

#endif  // VCX_CORE_CMD_HANDLERS_H_
