#!/bin/sh
# Runs forms-mirror under a supervisor that restarts every process that ends, such as Docker's `restart: unless-stopped`. Exit
# code 2 means wrong settings, and a restart does not help: this script then waits to be stopped. It passes on any other exit code,
# and the signal to stop.
cd "$(dirname "$0")/.." || exit 1
node bin/forms-mirror.js "$@" &
child=$!
stopped=
trap 'stopped=yes; kill -TERM "$child" 2> /dev/null' TERM INT
wait "$child"
code=$?
# A signal ends the wait, but not the program, which first finishes its batch.
while kill -0 "$child" 2> /dev/null; do
  wait "$child"
  code=$?
done
if [ "$code" -ne 2 ] || [ -n "$stopped" ]; then exit "$code"; fi
trap 'kill "$child" 2> /dev/null; exit 2' TERM INT
echo 'forms-mirror ended with exit code 2: its settings are wrong, see above. Correct them and recreate the container. It is not restarted until then.' >&2
sleep 2147483647 &
child=$!
wait "$child"
