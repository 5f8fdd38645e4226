#!/bin/sh
# Builds Citus from source, beside a copy of the system's PostgreSQL, for `npm run test:citus`.
# The copy keeps the system's own PostgreSQL as it is: PostgreSQL finds its libraries relative to its programs.
#
#   scripts/build-citus.sh REPOSITORY PREFIX [TAG]
#
# REPOSITORY  https://github.com/citusdata/citus, or the path of a clone
# PREFIX      an empty or missing directory, such as /opt/citus
# TAG         v13.2.2 unless given: the last series for PostgreSQL 15 (also 16 and 17)
#
# PG_CONFIG selects the PostgreSQL. JOBS is the number of compilers that run at the same time, 1 unless given.
set -eu

if [ $# -lt 2 ]; then
  sed -n '2,/^set/{/^set/d;s/^#* \{0,1\}//;p}' "$0" >&2
  exit 2
fi
repository=$1
prefix=$2
tag=${3:-v13.2.2}

packages='git gcc make flex autoconf postgresql-server-dev-VERSION libzstd-dev liblz4-dev libssl-dev libkrb5-dev
  libicu-dev libselinux1-dev libpam0g-dev libxslt1-dev libreadline-dev'
pg_config=${PG_CONFIG:-$(ls -d /usr/lib/postgresql/*/bin/pg_config 2>/dev/null | head -n 1)}
for tool in git gcc make flex "${pg_config:-pg_config}"; do
  if ! command -v "$tool" >/dev/null; then
    printf '%s is missing. On Debian, with VERSION the version of PostgreSQL: apt-get install %s\n' "$tool" "$packages" >&2
    exit 1
  fi
done
if [ -n "$(ls -A "$prefix" 2>/dev/null)" ]; then
  echo "$prefix is not empty. Name another directory, or delete it." >&2
  exit 1
fi

sources=$(mktemp -d)
trap 'rm -rf "$sources"' EXIT
git clone --quiet --depth 1 --branch "$tag" "$repository" "$sources/citus"
cd "$sources/citus"

# Minor versions of PostgreSQL since 2026 declare this function themselves, and the compiler rejects a static one.
if grep -q have_createdb_privilege "$("$pg_config" --includedir-server)/commands/dbcommands.h"; then
  sed -i 's/^have_createdb_privilege(void)/unused_&/' src/include/pg_version_compat.h
fi

PG_CONFIG=$pg_config ./configure --quiet --without-libcurl
make --silent -j"${JOBS:-1}" extension

for kind in bindir pkglibdir sharedir; do
  from=$("$pg_config" --$kind)
  mkdir -p "$prefix$from"
  cp -a "$from/." "$prefix$from/"
done
make --silent install-extension DESTDIR="$prefix"
echo "CITUS_PG_BIN=$prefix$("$pg_config" --bindir)"
