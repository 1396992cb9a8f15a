"""Symbolising a program with 100 MB of debug info: the first report, the second, and what other tools take.

The program is one template-heavy unit, compiled once and linked many times under other symbol names: the same debug
info as that many units, without compiling for minutes. Nothing here asserts a time.
"""
import os
import shutil
import subprocess
import sys
import tempfile
import time

UNITS, ADDRESSES, ROUNDS = 24, 2000, 3

SOURCE = """
#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <regex>
#include <string>
#include <unordered_map>
#include <vector>
template <int N> struct Tag { int value = N; bool operator<(const Tag& o) const { return value < o.value; } };
template <int N> long work(long seed) {
    std::map<Tag<N>, std::string> names;
    std::unordered_map<std::string, std::vector<Tag<N>>> groups;
    std::vector<std::pair<Tag<N>, double>> pairs;
    for (long i = 0; i < seed; ++i) {
        names[Tag<N>{int(i)}] = std::to_string(i);
        groups[std::to_string(i % 7)].push_back(Tag<N>{int(i)});
        pairs.emplace_back(Tag<N>{int(i)}, double(i));
    }
    std::sort(pairs.begin(), pairs.end(), [](const auto& a, const auto& b) { return b.first < a.first; });
    std::function<long(long)> next = [&](long x) { return x + long(groups.size() + names.size()); };
    return std::accumulate(pairs.begin(), pairs.end(), 0L,
                           [&](long sum, const auto& p) { return next(sum + long(p.second)); });
}
template <int... N> long all(long seed, std::integer_sequence<int, N...>) { return (work<N>(seed) + ...); }
extern "C" long entry(long seed) {
    std::regex pattern("a(b|c)*d");
    return all(seed, std::make_integer_sequence<int, 24>()) + std::regex_match(std::to_string(seed), pattern);
}
"""


def build(compiler, folder):
    """Path of the program, or None: the compiler is not there."""
    if not shutil.which(compiler):
        return None
    unit, program = os.path.join(folder, "unit.o"), os.path.join(folder, f"program-{compiler}")
    source = os.path.join(folder, "unit.cpp")
    with open(source, "w") as file:
        file.write(SOURCE)
    subprocess.run([compiler, "-std=c++20", "-g", "-O1", "-c", source, "-o", unit], check=True)
    symbols = [line.split() for line in
               subprocess.run(["nm", unit], check=True, capture_output=True, text=True).stdout.splitlines()]
    defined = sorted({parts[-1] for parts in symbols if parts[-2] not in ("U", "w", "v")})
    objects = []
    for number in range(UNITS):
        names = os.path.join(folder, "names")
        with open(names, "w") as file:
            file.writelines(f"{name} u{number}_{name}\n" for name in defined)
        objects.append(os.path.join(folder, f"unit{number}.o"))
        subprocess.run(["objcopy", f"--redefine-syms={names}", unit, objects[-1]], check=True)
    main = os.path.join(folder, "main.cpp")
    with open(main, "w") as file:
        for number in range(UNITS):
            file.write(f'extern "C" long u{number}_entry(long);\n')
        calls = " + ".join(f"u{number}_entry(argc)" for number in range(UNITS))
        file.write(f"int main(int argc, char**) {{ return int({calls}); }}\n")
    subprocess.run([compiler, "-g", "-O1", main, *objects, "-Wl,--build-id=sha1", "-o", program], check=True)
    for path in objects + [unit]:
        os.remove(path)
    return program


def debug_megabytes(program):
    text = subprocess.run(["size", "-A", "-d", program], check=True, capture_output=True, text=True).stdout
    return sum(int(line.split()[1]) for line in text.splitlines() if line.startswith(".debug")) / 1e6


def report(bench, program, cache):
    """seconds, peak MiB, frames, addresses with a line; the process's start is part of the seconds."""
    begin = time.perf_counter()
    output = subprocess.run([bench, program, str(ADDRESSES), *cache], check=True, capture_output=True, text=True)
    seconds = time.perf_counter() - begin
    _, peak, frames, lines = output.stdout.split()
    return seconds, float(peak), int(frames), int(lines)


def peer(command, program):
    """Seconds that another tool takes for as many addresses, or None: it is not installed."""
    if not shutil.which(command[0]):
        return None
    text = subprocess.run(["readelf", "-lW", program], check=True, capture_output=True, text=True).stdout
    code = next(line.split() for line in text.splitlines() if " R E " in line)
    begin, size = int(code[2], 16), int(code[4], 16)
    addresses = "".join(f"{begin + size // ADDRESSES * i:#x}\n" for i in range(ADDRESSES))
    start = time.perf_counter()
    subprocess.run([*command, program], input=addresses, check=True, capture_output=True, text=True)
    return time.perf_counter() - start


def main():
    bench = sys.argv[1]
    for compiler in ("g++", "clang++", "clang++-14"):
        with tempfile.TemporaryDirectory() as folder:
            program = build(compiler, folder)
            if not program:
                continue
            print(f"{compiler}: {debug_megabytes(program):.0f} MB of debug info, {UNITS + 1} units, "
                  f"{ADDRESSES} addresses")
            first, second = [], []
            for number in range(ROUNDS):
                cache = os.path.join(folder, f"cache{number}")
                first.append(report(bench, program, [cache]))
                second.append(report(bench, program, [cache]))
            for name, runs in (("first report", first), ("second report", second)):
                seconds, peak, frames, lines = sorted(runs)[ROUNDS // 2]
                print(f"  {name:22} {seconds:8.3f} s  peak {peak:6.1f} MiB  {frames} frames, {lines} with lines")
            for command in (["addr2line", "-afiC", "-e"], ["eu-addr2line", "-afiC", "-e"],
                            ["llvm-addr2line-14", "-afiC", "-e"]):
                seconds = peer(command, program)
                print(f"  {command[0]:22} " + (f"{seconds:8.3f} s" if seconds else "not installed"))


if __name__ == "__main__":
    main()
