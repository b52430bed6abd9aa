#!/bin/sh
# Installs Prometheus with promtool from Debian, where they are missing and that may be done.
set -eu
command -v promtool >/dev/null && command -v prometheus >/dev/null && exit 0
if command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
	apt-get update -q >/dev/null
	apt-get install -y -q --no-install-recommends prometheus >/dev/null
else
	echo "prometheus and promtool are not installed, so their tests are skipped" >&2
fi
