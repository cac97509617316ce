#!/bin/sh
# Runs forms-mirror for a supervisor that starts again whatever ends, as Docker's `restart: unless-stopped` does. Exit code 2
# means wrong settings, which no restart mends: then this waits to be stopped. Any other end is passed on, and so is a stop.
cd "$(dirname "$0")/.." || exit 1
node bin/forms-mirror.js "$@" &
child=$!
stopped=
trap 'stopped=yes; kill -TERM "$child" 2> /dev/null' TERM INT
wait "$child"
code=$?
# A signal ends the wait, not the program, which finishes what is in hand.
while kill -0 "$child" 2> /dev/null; do
  wait "$child"
  code=$?
done
if [ "$code" -ne 2 ] || [ -n "$stopped" ]; then exit "$code"; fi
echo 'forms-mirror ended with exit code 2: see above. It is not started again until the settings are changed and the container is made anew.' >&2
trap 'kill "$child" 2> /dev/null; exit 2' TERM INT
sleep 2147483647 &
child=$!
wait "$child"
