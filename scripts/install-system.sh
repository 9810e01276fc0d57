#!/usr/bin/env bash
# Installs what the tests need from the system and pip does not bring: PostgreSQL's
# server programs. Nothing is started: the tests run a server of their own.
# Instant when all is there; says loudly what is missing where it cannot install.
set -u

have_postgresql() {
  compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null || command -v initdb >/dev/null 2>&1
}

install_postgresql() {
  # Debian would make a cluster and start it: not wanted.
  local settings=/etc/postgresql-common/createcluster.conf
  if [ ! -e "$settings" ]; then
    mkdir -p "$(dirname "$settings")" && echo 'create_main_cluster = false' >"$settings"
  fi
  export DEBIAN_FRONTEND=noninteractive
  local options=(-y -qq --no-install-recommends -o Dpkg::Options::=--force-confold)
  apt-get install "${options[@]}" postgresql >/dev/null ||
    { apt-get update -qq && apt-get install "${options[@]}" postgresql >/dev/null; }
}

if ! have_postgresql; then
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    echo 'installing postgresql ...'
    install_postgresql
  fi
fi

if ! have_postgresql; then
  cat >&2 <<'TEXT'

  ******************************************************************************
  PostgreSQL's server programs (initdb, postgres) are MISSING and could not be
  installed. Tests of studies on PostgreSQL are skipped, or fail where CI=true.
  As root on Debian or Ubuntu:  apt-get install postgresql
  Elsewhere: install PostgreSQL and put initdb on the PATH.
  ******************************************************************************

TEXT
  [ "${CI:-}" != true ] || exit 1
fi
