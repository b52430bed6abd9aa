#!/bin/sh
# Unpacks Debian's Prometheus, with promtool, into .venv-backends/debian where they are not installed.
# Needs no root and changes nothing of the system: the package is fetched and unpacked, not installed.
set -eu
command -v promtool >/dev/null && command -v prometheus >/dev/null && exit 0

place=$PWD/.venv-backends/debian
test -x "$place/usr/bin/promtool" && exit 0
if ! command -v apt-get >/dev/null || ! command -v dpkg-deb >/dev/null; then
	echo "prometheus and promtool are not installed, and this is no Debian: their tests are skipped" >&2
	exit 0
fi

mkdir -p "$place/lists/partial" "$place/cache/archives/partial"
cd "$place"
apt() {
	apt-get -q -o Dir::State::lists="$place/lists" -o Dir::Cache="$place/cache" -o APT::Sandbox::User= "$@"
}
if { apt-get -q download prometheus || { apt update && apt download prometheus; }; } >fetched.log 2>&1; then
	dpkg-deb -x prometheus_*.deb .
	rm -rf lists cache prometheus_*.deb fetched.log
else
	echo "prometheus could not be fetched, so its tests are skipped: see $place/fetched.log" >&2
fi
