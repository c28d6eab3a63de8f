#!/bin/sh
# A small job to measure: counts the primes below a limit, in plain shell, for a few seconds.
#
#   impact track -- ./examples/primes.sh [LIMIT]
limit=${1:-30000}
count=0
n=2
while [ "$n" -lt "$limit" ]; do
    divisor=2
    prime=1
    while [ $((divisor * divisor)) -le "$n" ]; do
        if [ $((n % divisor)) -eq 0 ]; then
            prime=0
            break
        fi
        divisor=$((divisor + 1))
    done
    count=$((count + prime))
    n=$((n + 1))
done
echo "$count primes below $limit"
