# SPDX-License-Identifier: (GPL-2.0-only OR Linux-OpenIB)
# shellcheck shell=bash
# Shared by the build scripts: messages, the cache, locks, a private apt.
# A script sets -euo pipefail, defines its name by being called, and sources this.

VCX_TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
VCX_CACHE=${VCX_CACHE:-$HOME/.cache/vcx}
VCX_ME=$(basename "$0")
export LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive
umask 022

# meson compiles through ccache where it is installed. Objects are shared between
# clones of the tree, whatever folder they are in.
export CCACHE_DIR=$VCX_CACHE/ccache CCACHE_BASEDIR=$VCX_TOP CCACHE_NOHASHDIR=1
export CCACHE_MAXSIZE=2G

# A bare chroot has no /proc, without which bash has no <(...), and much else in
# a build fails in ways that are hard to understand.
[ -e /proc/self ] || mount -t proc proc /proc || {
	echo "$VCX_ME: /proc is missing and cannot be mounted; mount it first" >&2
	exit 1
}

# A progress line, with the seconds since the script began. Progress goes to
# standard error, so that a script may print a result that others read.
say() {
	printf '%s: [%3ds] %s\n' "$VCX_ME" "$SECONDS" "$*" >&2
}

# The last line of a script that makes something; not wanted when another script
# calls it to make sure that the thing is there, and it is.
report() {
	[ -n "${VCX_NESTED-}" ] || say "$*"
}

die() {
	printf '%s: %s\n' "$VCX_ME" "$*" >&2
	exit 1
}

# Prints the comment block at the head of the calling script.
usage() {
	sed -n '/^# SPDX/d; 2,/^[^#]/{ s/^# \{0,1\}//p }' "$0" | sed '1{/^$/d}; /^set -/,$d'
}

need_root() {
	[ "$(id -u)" = 0 ] || die "must run as root"
}

need_tool() {
	local tool
	for tool in "$@"; do
		command -v "$tool" >/dev/null ||
			die "'$tool' is missing; run scripts/setup"
	done
}

check_suite() {
	case $1 in
	trixie | bookworm) ;;
	*) die "'$1' is not a guest; choose trixie or bookworm" ;;
	esac
}

# hash_of WORD... -- FILE...: 12 hex digits over the words and the files'
# contents; a file's name is not part of it.
hash_of() {
	local words=()
	while [ "$1" != -- ]; do
		words+=("$1")
		shift
	done
	shift
	{ printf '%s\n' "${words[@]}"; cat "$@"; } | sha256sum | cut -c1-12
}

# cached NAME FUNCTION: makes $VCX_CACHE/NAME by running FUNCTION with an empty
# temporary folder as its argument, which is renamed into place when it
# succeeds. Two runs that need the same thing make it once. Sets $CACHED.
cached() {
	local name=$1 make=$2 temp
	CACHED=$VCX_CACHE/$name
	# The folder's time says when it was last used.
	if [ -d "$CACHED" ]; then
		touch -c "$CACHED" || true
		return
	fi
	mkdir -p "$VCX_CACHE/locks"
	exec {VCX_LOCK}>"$VCX_CACHE/locks/$name"
	if ! flock -n "$VCX_LOCK"; then
		say "waiting for another run that makes $name"
		flock "$VCX_LOCK"
	fi
	if [ ! -d "$CACHED" ]; then
		# What killed runs left behind: of this name, since the lock says
		# that none is alive, and of others, since they are old.
		rm -rf --one-file-system "$VCX_CACHE/.tmp-$name".*
		find "$VCX_CACHE" -maxdepth 1 -name '.tmp-*' -mmin +600 \
			-exec rm -rf --one-file-system {} +
		temp=$(mktemp -d "$VCX_CACHE/.tmp-$name.XXXXXX")
		chmod 755 "$temp"
		# shellcheck disable=SC2064
		trap "rm -rf --one-file-system '$temp'" EXIT
		"$make" "$temp"
		mv -T "$temp" "$CACHED"
		trap - EXIT
		# Its predecessors, once nobody has used them for a week.
		find "$VCX_CACHE" -maxdepth 1 -type d -name "${name%-*}-*" -mtime +7 \
			-exec rm -rf --one-file-system {} +
	fi
	exec {VCX_LOCK}>&-
}

# packages_for LIST SUITE: the names in a list, comma separated.
packages_for() {
	awk -v suite="[$2]" '!/^#/ && NF && ($2 !~ /^\[/ || $2 == suite) { print $1 }' \
		"$1" | paste -sd,
}

# private_apt FOLDER SUITE [deb|deb-src]: apt state of its own for a suite that
# is not this host's. Sets the array APT_OPTS for apt-get and apt-cache.
private_apt() {
	local dir=$1 suite=$2 kind=${3:-deb}
	mkdir -p "$dir/lists/partial" "$dir/archives/partial"
	"$VCX_TOP/scripts/lib/debian-sources" "$suite" "$kind" >"$dir/$suite.sources"
	APT_OPTS=(-qq
		-o "Dir::Etc::sourcelist=$dir/$suite.sources"
		-o Dir::Etc::sourceparts=/dev/null
		-o Dir::Etc::preferencesparts=/dev/null
		-o "Dir::State::lists=$dir/lists"
		-o "Dir::State::status=/dev/null"
		-o "Dir::Cache=$dir" -o "Dir::Cache::archives=$dir/archives"
		-o APT::Architecture=amd64 -o APT::Sandbox::User=root
		-o Acquire::Languages=none -o Acquire::Retries=3)
	apt-get "${APT_OPTS[@]}" update ||
		die "cannot read the package lists of $suite from this host's mirror"
}
