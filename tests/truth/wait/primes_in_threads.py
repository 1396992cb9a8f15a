"""Counts primes in parts. Planted: by threads, which take turns with the interpreter's lock. Cured: by processes."""
import concurrent.futures
import os

PARTS = 8
NUMBERS = 700_000


def count_primes(part):
    count = 0
    for number in range(2 + part, NUMBERS, PARTS):
        divisor = 2
        while divisor * divisor <= number:
            if number % divisor == 0:
                break
            divisor += 1
        else:
            count += 1
    return count


def main():
    if os.environ.get("CURED"):
        pool = concurrent.futures.ProcessPoolExecutor(2)
    else:
        pool = concurrent.futures.ThreadPoolExecutor(2)
    with pool:
        print(sum(pool.map(count_primes, range(PARTS))))


if __name__ == "__main__":
    main()
