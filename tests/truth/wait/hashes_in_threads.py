"""Threads that compress and hash large buffers, for which the interpreter gives up its lock."""
import hashlib
import threading
import zlib

ROUNDS = 40


def work(number, results):
    data = bytes((value * (number + 3)) & 255 for value in range(1 << 18)) * 16
    for _ in range(ROUNDS):
        results[number] = hashlib.sha256(zlib.compress(data, 6) + data).hexdigest()


def main():
    results = [""] * 2
    threads = [threading.Thread(target=work, args=(number, results)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(results[0][:8], results[1][:8])


if __name__ == "__main__":
    main()
