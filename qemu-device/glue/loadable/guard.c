/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vcx.so: what `qemu-system-x86_64 -plugin file=vcx.so` loads.
 *
 * QEMU promises no binary interface: structures that the device shares with it
 * change even within stable updates of one distribution release. The device
 * is therefore made for one exact binary, known by its build-id. This file
 * uses nothing of QEMU, so that it can be loaded into any QEMU and refuse with
 * a sentence instead of an undefined symbol or a crash.
 *
 * Arguments are passed on to vcx_device_load() (entry.c).
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "qemu-plugin.h"
#include "entry.h"

#define VCX_BUILD_ID_BYTES 64

/* How the functions below report: false is "said so, do not load". */
static bool vcx_is_my_qemu;

QEMU_PLUGIN_EXPORT int qemu_plugin_version = QEMU_PLUGIN_VERSION;

static size_t vcx_align4(size_t value)
{
    return (value + 3) & ~(size_t)3;
}

/* Finds the build-id in one segment of ELF notes; writes it as text. */
static bool vcx_build_id_of(const uint8_t *note, size_t len, char *text)
{
    while (len >= sizeof(ElfW(Nhdr))) {
        const ElfW(Nhdr) *header = (const void *)note;
        size_t name = sizeof(*header);
        size_t data = name + vcx_align4(header->n_namesz);
        size_t end = data + vcx_align4(header->n_descsz);
        size_t i;

        if (end > len) {
            return false;
        }
        if (header->n_type == NT_GNU_BUILD_ID && header->n_namesz == 4 &&
            memcmp(note + name, "GNU", 4) == 0 &&
            header->n_descsz <= VCX_BUILD_ID_BYTES) {
            for (i = 0; i < header->n_descsz; i++) {
                sprintf(text + 2 * i, "%02x", note[data + i]);
            }
            return true;
        }
        note += end;
        len -= end;
    }
    return false;
}

/* The first object that is reported is the program itself. */
static int vcx_look_at_program(struct dl_phdr_info *info, size_t size,
                               void *opaque)
{
    int i;

    for (i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];

        if (segment->p_type == PT_NOTE &&
            vcx_build_id_of((const uint8_t *)info->dlpi_addr +
                                segment->p_vaddr,
                            segment->p_memsz, opaque)) {
            break;
        }
    }
    return 1;
}

/*
 * In a constructor, because QEMU compares qemu_plugin_version before it calls
 * qemu_plugin_install(): the sentence of this file shall come first.
 */
__attribute__((constructor)) static void vcx_check_qemu(void)
{
    char running[2 * VCX_BUILD_ID_BYTES + 1] = "";

    dl_iterate_phdr(vcx_look_at_program, running);
    vcx_is_my_qemu = strcmp(running, VCX_QEMU_BUILD_ID) == 0;
    if (!vcx_is_my_qemu) {
        fprintf(stderr,
                "vcx: this device was built for QEMU %s (build-id %s) and "
                "does not fit the program that loads it (build-id %s); run "
                "scripts/build-device again\n",
                VCX_QEMU_VERSION, VCX_QEMU_BUILD_ID,
                running[0] ? running : "none");
    }
}

static int vcx_load_device(int argc, char **argv)
{
    vcx_device_load_fn *load;
    char path[4096];
    Dl_info self;
    char *slash;
    void *handle;

    if (!dladdr(&qemu_plugin_version, &self) ||
        strlen(self.dli_fname) + sizeof(VCX_DEVICE_FILE) > sizeof(path)) {
        fprintf(stderr, "vcx: cannot find the folder of this device\n");
        return -1;
    }
    strcpy(path, self.dli_fname);
    slash = strrchr(path, '/');
    strcpy(slash ? slash + 1 : path, VCX_DEVICE_FILE);
    handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        fprintf(stderr, "vcx: cannot load the device: %s\n", dlerror());
        return -1;
    }
    load = (vcx_device_load_fn *)dlsym(handle, VCX_DEVICE_LOAD);
    if (!load) {
        fprintf(stderr, "vcx: %s is not the device\n", path);
        return -1;
    }
    return load(argc, argv);
}

QEMU_PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id,
                                           const qemu_info_t *info, int argc,
                                           char **argv)
{
    if (!vcx_is_my_qemu) {
        return -1;
    }
    return vcx_load_device(argc, argv);
}
