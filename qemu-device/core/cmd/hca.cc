/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// The life of the HCA: ENABLE, INIT, TEARDOWN, DISABLE; interface revision and
// identity.
#include <cstring>

#include "cmd/handlers.h"
#include "vcx/regs.h"

namespace vcx {
namespace {

constexpr uint16_t kMaxIssi = 1;

// QEMU's part of the locally administered addresses; IBTA has given none to
// this device.
constexpr uint32_t kIeeeVendorId = 0x525400;

constexpr char kPsid[] = "VCX0000000001";

}  // namespace

CmdVerdict EnableHca(Firmware& fw, const vcx_number_in& in, const Call&,
                     vcx_status_out&) {
  if (in.number.get() != 0) return VCX_REFUSED_FUNCTION;
  fw.state = HcaState::kEnabled;
  return VCX_CMD_ACCEPTED;
}

CmdVerdict DisableHca(Firmware& fw, const vcx_number_in& in, const Call&,
                      vcx_status_out&) {
  if (in.number.get() != 0) return VCX_REFUSED_FUNCTION;
  // Pages that were not taken back are the driver's again all the same.
  fw.Reset();
  return VCX_CMD_ACCEPTED;
}

CmdVerdict InitHca(Firmware& fw, const vcx_number_in&, const Call&,
                   vcx_number_out&) {
  if (fw.pages.OwedForInit() != 0) return VCX_REFUSED_PAGES_OWED;
  fw.state = HcaState::kInitialized;
  return VCX_CMD_ACCEPTED;
}

CmdVerdict TeardownHca(Firmware& fw, const vcx_number_in& in, const Call&,
                       vcx_number_out&) {
  if (in.number.get() != 0) return VCX_REFUSED_PROFILE;
  fw.DropObjects();
  fw.state = HcaState::kEnabled;
  return VCX_CMD_ACCEPTED;
}

CmdVerdict QueryIssi(Firmware& fw, const vcx_number_in&, const Call&,
                     vcx_query_issi_out& out) {
  out.current_issi = fw.issi;
  out.supported_issi = (2u << kMaxIssi) - 1;
  return VCX_CMD_ACCEPTED;
}

CmdVerdict SetIssi(Firmware& fw, const vcx_set_issi_in& in, const Call&,
                   vcx_number_out&) {
  if (in.current_issi.get() > kMaxIssi) return VCX_REFUSED_ISSI;
  fw.issi = static_cast<uint16_t>(in.current_issi.get());
  return VCX_CMD_ACCEPTED;
}

CmdVerdict QueryAdapter(Firmware&, const vcx_number_in&, const Call&,
                        vcx_query_adapter_out& out) {
  static_assert(sizeof(kPsid) <= sizeof(out.psid));
  out.ieee_vendor_id = kIeeeVendorId;
  out.vsd_vendor_id = VCX_PCI_VENDOR_ID;
  std::memcpy(out.psid, kPsid, sizeof(kPsid));
  return VCX_CMD_ACCEPTED;
}

}  // namespace vcx
