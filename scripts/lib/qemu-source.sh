# SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB)
# shellcheck shell=bash
# The installed QEMU, its source package and what the device needs of it.
# Source common.sh and build-core.sh first.

# qemu_find: the installed binary and the source package it was built from.
# Sets QEMU_BIN, QEMU_SOURCE (a name), QEMU_VERSION and QEMU_BUILD_ID.
qemu_find() {
	local real package
	QEMU_BIN=${VCX_QEMU:-$(command -v qemu-system-x86_64)} ||
		die "qemu-system-x86_64 is not installed; run scripts/setup"
	[ -x "$QEMU_BIN" ] || die "there is no program $QEMU_BIN"
	real=$(readlink -f "$QEMU_BIN")
	package=$(dpkg-query -S "$real" 2>/dev/null | cut -d: -f1) || true
	[ -n "$package" ] ||
		die "$QEMU_BIN does not come from a Debian package, so its source is not known; install the package qemu-system-x86"
	read -r QEMU_SOURCE QEMU_VERSION < <(dpkg-query -W \
		-f '${source:Package} ${source:Version}\n' "$package")
	QEMU_BUILD_ID=$(readelf -n "$real" 2>/dev/null |
		awk '/Build ID:/ { print $3; exit }')
	[ -n "$QEMU_BUILD_ID" ] || die "$QEMU_BIN has no build-id"
}

# qemu_private_apt FOLDER: apt state of its own that knows the source packages
# of every archive in this host's apt sources. Sets the array APT_OPTS.
qemu_private_apt() {
	local dir=$1 list parts file
	mkdir -p "$dir/parts" "$dir/lists/partial" "$dir/archives/partial"
	eval "$(apt-config shell list Dir::Etc::sourcelist/f \
		parts Dir::Etc::sourceparts/d)"
	for file in "$list" "${parts%/}"/*.list; do
		[ ! -f "$file" ] || sed -nE 's/^[[:space:]]*deb([[:space:]])/deb-src\1/p' \
			"$file" >"$dir/parts/$(basename "$file")"
	done
	for file in "${parts%/}"/*.sources; do
		[ ! -f "$file" ] || sed -E 's/^Types:.*/Types: deb-src/' \
			"$file" >"$dir/parts/$(basename "$file")"
	done
	APT_OPTS=(-qq
		-o Dir::Etc::sourcelist=/dev/null
		-o "Dir::Etc::sourceparts=$dir/parts"
		-o "Dir::State::lists=$dir/lists"
		-o "Dir::Cache=$dir" -o "Dir::Cache::archives=$dir/archives"
		-o APT::Sandbox::User=root
		-o Acquire::Languages=none -o Acquire::Retries=3)
}

# Archives without source packages make the update fail, so what counts is
# whether the package was found.
qemu_download_into() {
	local temp=$1
	say "fetching the source of $QEMU_SOURCE $QEMU_VERSION"
	qemu_private_apt "$temp/apt"
	apt-get "${APT_OPTS[@]}" update >"$temp/apt.log" 2>&1 || true
	compgen -G "$temp/apt/lists/*Sources*" >/dev/null || {
		tail -n 5 "$temp/apt.log" >&2
		die "cannot fetch the lists of source packages from the mirrors of this machine's apt sources"
	}
	(cd "$temp" && apt-get "${APT_OPTS[@]}" source --download-only \
		"$QEMU_SOURCE=$QEMU_VERSION" >>"$temp/apt.log" 2>&1) || {
		tail -n 5 "$temp/apt.log" >&2
		die "the source of the installed QEMU ($QEMU_SOURCE $QEMU_VERSION) is not on the mirrors of this machine's apt sources; upgrade qemu-system-x86, or add a mirror that has this version"
	}
	rm -rf "$temp/apt" "$temp/apt.log"
}

# qemu_download: the files of the source package, cached. Sets QEMU_DOWNLOAD.
qemu_download() {
	cached "$QEMU_SOURCE-source-${QEMU_VERSION//[:~]/_}" qemu_download_into
	QEMU_DOWNLOAD=$CACHED
}

# qemu_unpack FOLDER: the source with the distribution's patches.
qemu_unpack() {
	dpkg-source -x "$QEMU_DOWNLOAD"/*.dsc "$1" >"$1.log" 2>&1 || {
		tail -n 20 "$1.log" >&2
		die "cannot unpack the QEMU source"
	}
	rm -f "$1.log"
}

# qemu_configure_options SOURCE: the least that is useful, one option a line.
# Nothing here may change a structure that the device sees.
qemu_configure_options() {
	printf '%s\n' --target-list=x86_64-softmmu --without-default-features \
		--enable-tcg --enable-kvm --enable-plugins --disable-docs \
		--disable-tools --disable-guest-agent --disable-install-blobs
	# An option since 8.1, required before.
	! grep -q enable-pixman "$1/scripts/meson-buildoptions.sh" ||
		printf '%s\n' --enable-pixman
}

# The headers that a device includes: those of the source and the few that are
# generated. Nothing of QEMU is compiled.
qemu_headers_into() {
	local temp=$1 source=$1/unpacked build=$1/configured options
	say "generating the headers of QEMU $QEMU_VERSION"
	qemu_unpack "$source"
	mkdir "$build"
	mapfile -t options < <(qemu_configure_options "$source")
	(cd "$build" && run_logged "$temp/log" "QEMU's configure failed" \
		../unpacked/configure "${options[@]}" --enable-modules)
	run_logged "$temp/log" "cannot generate QEMU's headers" \
		ninja -C "$build" config-poison.h qapi/qapi-builtin-types.h
	mkdir -p "$temp/source/scripts" "$temp/build/qapi" "$temp/source/tcg"
	cp -a "$source/include" "$source/linux-headers" "$source/trace" "$temp/source/"
	cp -a "$source/tcg/i386" "$temp/source/tcg/"
	[ ! -d "$source/host" ] || cp -a "$source/host" "$temp/source/"
	cp -a "$source"/scripts/tracetool* "$temp/source/scripts/"
	cp -aL "$build"/config-*.h "$temp/build/"
	cp -aL "$build"/qapi/*.h "$temp/build/qapi/"
	rm -rf "$source" "$build" "$temp/log"
}

# qemu_headers: sets QEMU_HEADERS to a folder with source/ and build/, cached.
qemu_headers() {
	local key
	key=$(hash_of "$QEMU_SOURCE" "$QEMU_VERSION" \
		"$(declare -f qemu_headers_into qemu_configure_options)" -- /dev/null)
	if [ ! -d "$VCX_CACHE/qemu-headers-$key" ]; then
		need_tool dpkg-source pkg-config python3 ninja meson
		qemu_download
	fi
	cached "qemu-headers-$key" qemu_headers_into
	# shellcheck disable=SC2034 # the result
	QEMU_HEADERS=$CACHED
}
