/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * fw_cmd.h - what fw.c, fw_obj.c and fw_port.c share.
 */
#ifndef VCX_FW_CMD_H
#define VCX_FW_CMD_H

#include <linux/types.h>

struct vcx_dev;
struct vcx_page_list;

int vcx_fw_simple(struct vcx_dev *dev, u16 opcode, u32 number);
void *vcx_fw_alloc_in(u16 opcode, size_t bytes, u32 num_pages,
		      size_t *in_bytes);
void vcx_fw_put_pages(__be64 *list, const struct vcx_page_list *pages);

#endif /* VCX_FW_CMD_H */
