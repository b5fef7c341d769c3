/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Generated from trace-events, by the build of QEMU or of the loadable. */
#include "trace/trace-hw_vcx.h"
