#!/usr/bin/env bash
# On the machine with the GPU, in a copy of this repository: install from CARRY (made by `make carry`), measure quickly,
# then fully, then count. All of it ends after WITHIN seconds (570) at the latest. What is measured is in OUT within
# seconds and is not measured again: the same call, with OUT as it was left, goes on. A case that ends all work on the GPU
# is left behind.
#   tools/on_the_gpu.sh CARRY OUT [quick|full|counters ...]
set -u
carry=${1:?the folder that make carry made}
out=${2:?a folder for the results}
shift 2
steps=${*:-quick full counters}
within=${WITHIN:-570}
conclude=30    # seconds that a step may take to draw its conclusions, when its time is over
for_counters=90 # kept for them, if they come last
python=$carry/venv/bin/python
mkdir -p "$out" && touch "$out/last.log" || exit 1

if ! "$python" -c 'import warpbound' 2> /dev/null; then
    if python3 -m venv "$carry/venv" 2> /dev/null; then
        "$python" -m pip install -q --no-index --find-links "$carry/wheels" 'warpbound[measure]' || exit 1
    else # no ensurepip here
        python3 -m pip install -q --no-index --find-links "$carry/wheels" --target "$carry/site" 'warpbound[measure]' || exit 1
        python=python3
    fi
fi
export PYTHONPATH="$PWD/src:$carry/site${PYTHONPATH:+:$PYTHONPATH}" # so that the examples beside it are in the corpus

code=$carry/code
left() { # seconds of this call, but for those that are kept: for the step's own end and for what is named
    echo $((within - SECONDS - conclude - ${1:-0}))
}
measure() { # SECONDS_KEPT WORDS: until the time is over, each time behind the case that ended all
    local kept=$1 tries=0 exited now
    shift
    while now=$(left "$kept") && [ "$now" -gt 5 ] && [ $tries -lt 6 ]; do
        { timeout -k 10 $((now + conclude)) "$python" -m warpbound measure "$@" --cubins "$code" --within "$now" \
            2>&1 1>&3 | tee "$out/last.log" >&2; } 3>&1
        exited=${PIPESTATUS[0]}
        if [ "$code" != "$carry/code12" ] && [ -d "$carry/code12" ] && grep -q "refuses the machine code" "$out/last.log"; then
            code=$carry/code12 # a driver of CUDA 12
            continue
        fi
        grep -q "Nothing runs on the GPU any more" "$out/last.log" || return "$exited"
        tries=$((tries + 1))
    done
    return 1
}
count() {
    local now
    now=$(left)
    [ "$now" -gt 5 ] || return 1
    PATH="$PATH:/usr/local/cuda/bin" timeout -k 10 "$now" "$python" -m warpbound measure --counters --cubins "$code" -o "$out/full"
}

status=0
for step in $steps; do
    case $step in
        quick) measure 0 --quick -o "$out/quick" || status=1 ;;
        full) case $steps in *counters) measure $for_counters --full -o "$out/full" ;; *) measure 0 --full -o "$out/full" ;; esac ||
            status=1 ;;
        counters) count || echo "No counters; all else is there." ;;
        *) echo "There is no step $step; there are quick, full and counters." && status=1 ;;
    esac
done
exit $status
