"""One thread computes, and hands a pool of idle threads a little work now and then."""
import concurrent.futures


def digits(number):
    return sum(map(int, str(number)))


def main():
    total = 0
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        for number in range(150):
            total += pool.submit(digits, number).result()
            for step in range(400_000):
                total += step & number
    print(total)


if __name__ == "__main__":
    main()
