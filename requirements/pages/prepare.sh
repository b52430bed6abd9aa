#!/bin/sh
# Installs Chromium from Debian, where it is missing and that may be done.
set -eu
command -v chromium >/dev/null && exit 0
if command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
	apt-get update -q >/dev/null
	apt-get install -y -q --no-install-recommends chromium fonts-dejavu-core >/dev/null
else
	echo "chromium is not installed, so the tests of the pages are skipped" >&2
fi
