# Jobs of different lengths, two at a time, where the scheduler puts them.
for pair in 1 2; do
    awk 'BEGIN { for (i = 0; i < 7000000; i++) s += i % 7; print s }' &
    awk 'BEGIN { for (i = 0; i < 3000000; i++) s += i % 11; print s }' &
    wait
done
