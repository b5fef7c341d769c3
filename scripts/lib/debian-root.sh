# SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB)
# shellcheck shell=bash
# Makes Debian root file systems; build-guest and build-root source it. It is an
# input of what they cache: a change here makes all images anew.

# The proxy settings of this host, as options for mmdebstrap.
apt_proxy_options() {
	apt-config dump | sed -n 's/^\(Acquire::https\?::Proxy .*\)$/--aptopt=\1/p'
}

# make_root ROOT SUITE LIST OPTION...: a Debian root file system with the
# packages of LIST, without the mirror's name and caches.
make_root() {
	local root=$1 suite=$2 list=$3 proxies
	shift 3
	mapfile -t proxies < <(apt_proxy_options)
	"$VCX_TOP/scripts/lib/debian-sources" "$suite" |
		mmdebstrap --verbose --variant=essential --mode=root \
			--architectures=amd64 "${proxies[@]}" \
			--aptopt='APT::Install-Recommends "false"' \
			--aptopt='Acquire::Languages "none"' \
			--aptopt='Acquire::Retries "3"' \
			--dpkgopt='force-unsafe-io' \
			--dpkgopt='path-exclude=/usr/share/man/*' \
			--dpkgopt='path-exclude=/usr/share/locale/*' \
			--dpkgopt='path-exclude=/usr/share/doc/*' "$@" \
			--include="$(packages_for "$list" "$suite")" \
			"$suite" "$root" - >"$root.log" 2>&1 || {
		tail -n 60 "$root.log" >&2
		die "mmdebstrap failed; the end of its messages is above"
	}
	rm -rf "$root.log" "$root"/etc/apt "$root"/var/lib/apt "$root"/var/cache \
		"$root"/var/log/* "$root"/usr/share/locale
	mkdir -p "$root/var/cache"
	# mmdebstrap took these from the host.
	rm -f "$root/etc/resolv.conf" "$root/etc/hostname"
}
