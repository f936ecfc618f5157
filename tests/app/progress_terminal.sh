#!/bin/bash
# Whether the progress of a run is exactly one line of a terminal that is 120, 80, 40 or 20 columns wide, and whether rubato top and
# rubato show fit there. tmux is the terminal.
#
#   progress_terminal.sh RUBATO EXPERIMENT
set -eu
rubato=$1 experiment=$2
command -v tmux > /dev/null || { echo "skipped: tmux is missing (package tmux)"; exit 77; }
home=$(mktemp -d)
# The server stays when its last session ends: one that is about to leave would refuse the next.
echo 'set -s exit-empty off' > "$home/tmux.conf"
terminal() { tmux -S "$home/tmux" -f "$home/tmux.conf" "$@"; }
end() {
  terminal kill-server 2> /dev/null || true
  rm -rf "$home"
}
trap end EXIT
fault() {
  echo "at $columns columns: $1"
  terminal capture-pane -p -t w || true
  exit 1
}
# The lines of the screen that say how far the run is.
progress() { terminal capture-pane -p -t w | grep -cE '[0-9]+( of |/)1000000 ?s?' || true; }
# Waits until the condition holds.
await() {
  for _ in $(seq 600); do
    if "$@"; then return 0; fi
    sleep 0.1
  done
  return 1
}
has_progress() { [ "$(progress)" -ge 1 ]; }
for columns in 120 80 40 20; do
  terminal new-session -d -x "$columns" -y 40 -s w \
    "LC_ALL=C.UTF-8 '$rubato' run '$experiment' --set until=1000000 --set metrics.every_seconds=20.0; sleep 600"
  await has_progress || fault "there is no progress"
  for _ in 1 2 3; do
    sleep 0.7
    [ "$(progress)" = 1 ] || fault "progress is not one line"
  done
  terminal kill-session -t w
done
"$rubato" run "$experiment" --set until=20.5 --quiet --out "$home/run" > /dev/null
for columns in 120 60 30; do
  terminal new-session -d -x "$columns" -y 30 -s w "LC_ALL=C.UTF-8 '$rubato' top '$home/run'; echo over; sleep 600"
  is_drawn() { terminal capture-pane -p -t w | grep -q complete; }
  await is_drawn || fault "top shows nothing"
  terminal capture-pane -p -t w | grep -q worst || fault "top does not name the worst client"
  terminal send-keys -t w q
  is_over() { terminal capture-pane -p -t w | grep -q over; }
  await is_over || fault "top does not end at q"
  terminal kill-session -t w
done
echo "one line at 120, 80, 40 and 20 columns"
