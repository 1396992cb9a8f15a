#!/bin/bash
# Innocent: a script runs its steps one after the other, reads their output, and joins them in pipelines.
count=0
for step in 1 2 3 4 5 6; do
    lines=$(seq 1 200000 | sort -R | sort -n | wc -l)
    count=$((count + lines + step))
done
seq 1 300000 | sed 's/7/seven/' | sort | uniq -c | tail -1
echo $count
