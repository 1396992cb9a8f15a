# One job after another, each bound to the same CPU: nothing waits for anything.
for job in 1 2 3; do
    taskset -c 0 awk 'BEGIN { for (i = 0; i < 4000000; i++) s += i % 7; print s }'
done
