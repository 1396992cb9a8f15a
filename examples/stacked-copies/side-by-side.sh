#!/bin/sh
# usage: side-by-side.sh SOLVER COPIES [SWEEPS]
# The same copies with nobody choosing their CPUs: `plumb pin` does.
solver=$1 copies=$2 sweeps=$3
for copy in $(seq "$copies"); do
    "$solver" $sweeps &
done
wait
