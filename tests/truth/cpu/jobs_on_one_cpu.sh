# Four jobs, two at a time. Planted: each is started on CPU 0. Cured: the two take a CPU each.
job() {
    [ -n "$CURED" ] && cpu=$1 || cpu=0
    taskset -c "$cpu" awk 'BEGIN { for (i = 0; i < 9000000; i++) s += i % 7; print s }'
}
for pair in 1 2; do
    job 0 &
    job 1 &
    wait
done
