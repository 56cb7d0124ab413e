# Finds what tests use. To be sourced.

# find_postgres prints the directory of initdb and pg_ctl.
find_postgres() {
  local dir
  for dir in $(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -Vr) $(dirname "$(command -v initdb 2>/dev/null || echo /nowhere/initdb)"); do
    if [ -x "$dir/initdb" ] && [ -x "$dir/postgres" ]; then echo "$dir"; return 0; fi
  done
  return 1
}

# find_chromium prints the path of the browser.
find_chromium() {
  local name
  for name in chromium chromium-browser google-chrome; do
    if command -v "$name" 2>/dev/null; then return 0; fi
  done
  return 1
}

# temp_in_memory prints a folder for temporary files: one in memory if there is room, so that
# tests do not wait for the disk. Their files need not survive a power cut.
temp_in_memory() {
  local free
  free=$(df --output=avail -k /dev/shm 2>/dev/null | tail -n 1)
  if [ -w /dev/shm ] && [ "${free:-0}" -gt 8000000 ]; then echo /dev/shm; else echo "${TMPDIR:-/tmp}"; fi
}
