# SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB)
# shellcheck shell=bash
# The device core for the QEMU device. Source common.sh first.

# run_logged LOG SENTENCE COMMAND...: quiet unless the command fails.
run_logged() {
	local log=$1 sentence=$2
	shift 2
	"$@" >"$log" 2>&1 || {
		tail -n 30 "$log" >&2
		die "$sentence; the end of its messages is above"
	}
}

# meson_setup BUILD SOURCE OPTION...: configures, anew when the options changed.
# A folder that was configured by hand stays as it is.
meson_setup() {
	local dir=$1 source=$2 stamp=$1/vcx-options
	shift 2
	if [ -f "$dir/build.ninja" ]; then
		[ -f "$stamp" ] && [ "$(cat "$stamp")" != "$*" ] || return 0
		rm -rf "$dir"
	fi
	mkdir -p "$dir"
	meson setup "$dir" "$source" "$@" && printf '%s' "$*" >"$stamp"
}

# build_core [-san]: build/core or build/core-san/libvcx_core.a. Sets CORE_BUILD.
build_core() {
	local options=(--buildtype=debugoptimized)
	CORE_BUILD=$VCX_TOP/build/core${1:-}
	[ -z "${1:-}" ] || options+=("-Db_sanitize=address,undefined" -Db_lundef=false)
	meson_setup "$CORE_BUILD" "$VCX_TOP/qemu-device" "${options[@]}" &&
		ninja -C "$CORE_BUILD" libvcx_core.a
}
