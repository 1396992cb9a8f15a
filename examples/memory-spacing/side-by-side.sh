#!/bin/sh
# side-by-side.sh COPIES PROGRAM ARGUMENTS...: so many copies at once, as ranks on one machine.
copies=$1
shift
while [ "$copies" -gt 0 ]; do
    "$@" &
    copies=$((copies - 1))
done
wait
