#!/usr/bin/env bash
# On the machine with the GPU, in a copy of this repository: install from CARRY (made by `make carry`), measure quickly,
# then fully, then count. Each step ends well under ten minutes; what is measured is not measured again.
#   tools/on_the_gpu.sh CARRY OUT [quick|full|counters ...]
set -u
carry=${1:?the folder that make carry made}
out=${2:?a folder for the results}
shift 2
steps=${*:-quick full counters}

if [ ! -x "$carry/venv/bin/warpbound" ]; then
    python3 -m venv "$carry/venv" || exit 1
    "$carry/venv/bin/python" -m pip install -q --no-index --find-links "$carry/wheels" 'warpbound[measure]' || exit 1
fi
export PYTHONPATH="$PWD/src" # so that the examples beside it are in the corpus
measure="$carry/venv/bin/warpbound measure --cubins $carry/code"
status=0
for step in $steps; do
    case $step in
        quick) $measure --quick -o "$out/quick" || status=1 ;;
        full) $measure --full -o "$out/full" || status=1 ;;
        counters) PATH="$PATH:/usr/local/cuda/bin" $measure --counters -o "$out/full" || echo "No counters; all else is there." ;;
        *) echo "There is no step $step; there are quick, full and counters." && status=1 ;;
    esac
done
exit $status
