#!/bin/sh
# usage: stacked.sh SOLVER COPIES [SWEEPS]
# The problem: copies of a serial program that share one CPU while others idle. On a large machine the kernel's
# first choice, a forgotten taskset in a wrapper, or a launcher that binds every copy alike brings this about; here
# it is taskset, so that it happens every time.
solver=$1 copies=$2 sweeps=$3
first=$(taskset -cp $$ | sed 's/.*: *//; s/[-,].*//')
for copy in $(seq "$copies"); do
    taskset -c "$first" "$solver" $sweeps &
done
wait
