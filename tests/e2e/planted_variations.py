"""Commands whose runs differ for a planted reason: `$drawn` is 0 or 1 by run, and the reason is there where it is 1."""

import os

DRAWN = "1011010001101001"  # eight of each, in no order
WAITING = "runnable, waiting for a CPU"
CPUS = sorted(os.sched_getaffinity(0))
LAST_CPU = os.cpu_count() - 1

CPU = "the CPU of its busiest thread"
ENVIRONMENT = "the size of its environment"
STACK = "where its stack begins within a cache line"
HUGE_PAGES = "its memory on huge pages"


def drawing(script, count):
    """The shell line that draws for each run, and then does `script`; `count` is a file of its own."""
    count.write_text("")
    return f"n=$(wc -l <{count}); echo x >>{count}; drawn=$(echo {DRAWN} | cut -c$((n % {len(DRAWN)} + 1)));" + script


def drawn_of(run):
    """What was drawn for run number `run`, from 0."""
    return int(DRAWN[run % len(DRAWN)])


def one_of_two_cpus(programs):
    """cpu_work does twice the work where it begins on the machine's last CPU."""
    return f"if [ $drawn = 1 ]; then cpu={LAST_CPU}; else cpu={CPUS[0]}; fi; taskset -c $cpu {programs}/cpu_work 2000 250"


def environment_size(programs, filling):
    """Which of the four positions within a cache line the two lengths meet depends on the rest of the environment: `filling` 0 to 3."""
    return (f"PAD={'x' * 16 * filling}; export PAD; "
            f"if [ $drawn = 1 ]; then fill=; else fill=0123456789abcdef; fi; "
            f"FILL=$fill FILLED=0123456789abcdef exec setarch -R {programs}/stack_records 12")


def stack_position(programs):
    """Not drawn: the kernel chooses for each run."""
    return f"exec {programs}/stack_records 12"


def huge_pages(programs):
    return f"GLIBC_TUNABLES=glibc.malloc.hugetlb=$drawn exec {programs}/page_work 64 20"


def neighbour(programs):
    work = f"taskset -c {CPUS[0]} {programs}/cpu_work 1000 250"
    return f"if [ $drawn = 1 ]; then taskset -c {CPUS[0]} {programs}/cpu_work 1000 100000 >/dev/null & {work}; kill $!; else {work}; fi"


def even(programs):
    return f"exec {programs}/cpu_work 1000 250"
