#!/usr/bin/env bash
# Installs what the tests need from the system and pip does not bring: PostgreSQL's
# server programs and Chromium. Nothing is started: the tests run their own.
# Instant when all is there; says loudly what is missing where it cannot install.
set -u

have_postgresql() {
  compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null || command -v initdb >/dev/null 2>&1
}

have_chromium() {
  command -v chromium >/dev/null 2>&1 || command -v chromium-browser >/dev/null 2>&1
}

install() {
  if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null 2>&1; then
    return
  fi
  echo "installing $1 ..."
  export DEBIAN_FRONTEND=noninteractive
  local options=(-y -qq --no-install-recommends -o Dpkg::Options::=--force-confold)
  apt-get install "${options[@]}" "$1" >/dev/null ||
    { apt-get update -qq && apt-get install "${options[@]}" "$1" >/dev/null; }
}

missing() {
  cat >&2 <<TEXT

  ******************************************************************************
  $1 MISSING and could not be installed.
  $2 are skipped, or fail where CI=true.
  As root on Debian or Ubuntu:  apt-get install $3
  Elsewhere: $4
  ******************************************************************************

TEXT
  [ "${CI:-}" != true ] || exit 1
}

if ! have_postgresql; then
  # Debian would make a cluster and start it: not wanted.
  settings=/etc/postgresql-common/createcluster.conf
  if [ "$(id -u)" = 0 ] && [ ! -e "$settings" ]; then
    mkdir -p "$(dirname "$settings")" && echo 'create_main_cluster = false' >"$settings"
  fi
  install postgresql
fi
have_postgresql || missing "PostgreSQL's server programs (initdb, postgres) are" \
  'Tests of studies on PostgreSQL' postgresql 'install PostgreSQL and put initdb on the PATH.'

have_chromium || install chromium
have_chromium || missing 'The browser Chromium is' \
  'Tests of the pages in a real browser' chromium 'install Chromium and put it on the PATH.'
