/* SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB) */
// objects.h - the small objects and the tables of all. Reference counts say
// how many other objects use one; a command refuses to destroy a used object.
#ifndef VCX_CORE_RESOURCE_OBJECTS_H_
#define VCX_CORE_RESOURCE_OBJECTS_H_

#include <cstdint>

#include "config.h"
#include "resource/cq.h"
#include "resource/eq.h"
#include "resource/mkey.h"
#include "resource/qp.h"
#include "resource/small.h"
#include "resource/table.h"
#include "vcx/regs.h"

namespace vcx {

struct Objects {
  explicit Objects(const Limits& limits);

  // Everything is gone; timers and the scheduler were cleared before.
  void Clear();

  Table<Pd> pds;
  Table<Uar> uars;
  Table<CounterSet> counter_sets;
  Table<Eq> eqs;
  Table<Cq> cqs;
  Table<Mkey> mkeys;  // by index: the key without its low 8 bits
  Table<Qp> qps;
};

}  // namespace vcx

#endif  // VCX_CORE_RESOURCE_OBJECTS_H_
