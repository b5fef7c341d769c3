/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// Doorbell pages and protection domains.
#include "cmd/handlers.h"

namespace vcx {

CmdVerdict AllocPd(Firmware& fw, const vcx_number_in&, const Call&,
                   vcx_number_out& out) {
  Pd* pd = fw.objects.pds.Allocate();
  if (pd == nullptr) return VCX_REFUSED_PD_NONE_LEFT;
  out.number = pd->number;
  return VCX_CMD_ACCEPTED;
}

CmdVerdict DeallocPd(Firmware& fw, const vcx_number_in& in, const Call&,
                     vcx_number_out&) {
  Pd* pd = fw.objects.pds.Find(in.number.get() & VCX_NUMBER_MASK);
  if (pd == nullptr) return VCX_REFUSED_PD_NUMBER;
  if (pd->references != 0) return VCX_REFUSED_PD_IN_USE;
  fw.objects.pds.Free(pd);
  return VCX_CMD_ACCEPTED;
}

CmdVerdict AllocUar(Firmware& fw, const vcx_number_in&, const Call&,
                    vcx_number_out& out) {
  Uar* uar = fw.objects.uars.Allocate();
  if (uar == nullptr) return VCX_REFUSED_UAR_NONE_LEFT;
  out.number = uar->number;
  return VCX_CMD_ACCEPTED;
}

CmdVerdict DeallocUar(Firmware& fw, const vcx_number_in& in, const Call&,
                      vcx_number_out&) {
  Uar* uar = fw.objects.uars.Find(in.number.get() & VCX_NUMBER_MASK);
  if (uar == nullptr) return VCX_REFUSED_UAR_NUMBER;
  if (uar->references != 0) return VCX_REFUSED_UAR_IN_USE;
  fw.objects.uars.Free(uar);
  return VCX_CMD_ACCEPTED;
}

}  // namespace vcx
