# SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB)
# What can be made here; each target calls a script that documents itself.
# (The kernel module is built by Kbuild; nothing here is for kbuild.)

VMS ?= 1
GUEST ?= trixie
TIME ?= 60

help:
	@echo 'make setup      install the Debian packages that are needed (root)'
	@echo 'make demo       show the device: boot VMs, run verbs programs in them'
	@echo 'make check      run all tests'
	@echo 'make unit       run the tests of the device core only'
	@echo 'make bench      vcx and rxe side by side in VMs: bandwidth, rate, latency'
	@echo 'make bench-core the device core alone, against its aims'
	@echo 'make fuzz       run the fuzzers (TIME=300: seconds for each)'
	@echo 'make shell      a shell in a VM with the driver loaded (VMS=2, GUEST=bookworm)'
	@echo
	@echo 'make device     the QEMU device, for the installed QEMU   scripts/build-device'
	@echo 'make qemu       a QEMU with the device built in (4 minutes)  scripts/build-qemu'
	@echo 'make modules    vcx.ko for both guests                    scripts/build-modules'
	@echo 'make provider   libvcx for the guest                      scripts/build-provider'
	@echo 'make guest      the guest image                           scripts/build-guest'
	@echo 'make clean      remove build/ (images are kept in $${VCX_CACHE:-~/.cache/vcx})'
	@echo
	@echo 'scripts/vm --help: run any program in one or several VMs'

setup:
	@scripts/setup

device: setup
	@scripts/build-device

qemu: setup
	@scripts/build-qemu

modules: setup
	@scripts/build-modules trixie
	@scripts/build-modules bookworm

provider: setup
	@scripts/build-provider

guest: setup
	@scripts/build-guest $(GUEST)

demo: setup
	@scripts/demo

check: setup
	@scripts/check

unit: setup
	@scripts/check core

bench: setup
	@scripts/bench

bench-core: setup
	@scripts/bench-core

fuzz: setup
	@scripts/fuzz --time $(TIME)

shell: setup
	@scripts/build-device
	@scripts/build-modules $(GUEST)
	@[ $(GUEST) != trixie ] || scripts/build-provider
	@scripts/vm --shell --guest $(GUEST) --count $(VMS)

clean:
	rm -rf build

.PHONY: help setup device qemu modules provider guest demo check unit fuzz bench bench-core \
	shell clean
.DEFAULT_GOAL := help
