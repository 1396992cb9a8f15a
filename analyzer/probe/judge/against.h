// What became slower or faster since an earlier probe of a machine. Pure.
#pragma once

#include "probe/judge/figures.h"

#include <cstdint>
#include <string>
#include <vector>

namespace plumb::probe {

struct EarlierProbe {
    int64_t id = 0;
    double begin_s = 0, took_s = 0; // since 1970
    size_t rounds = 0;
    std::string host, kernel, cpu_model, cpus; // cpus: a list
    int cpu_count = 0;
    uint64_t memory_bytes = 0;
    std::vector<Figure> figures;
};

struct Change {
    Figure before, now;
    double slowdown = 1;    // of the medians; 2: takes twice as long, or half as much a second
    bool is_slower = false; // the two intervals are further apart than the limit
    bool is_faster = false;
};

struct Against {
    EarlierProbe earlier;
    std::vector<Change> changes;      // of all figures that both have, those that became slowest first
    std::vector<std::string> machine; // what is another machine now, in words: "kernel: Linux 6.1 before, Linux 6.12 now"

    bool is_slower() const;
};

Against compare_with(const EarlierProbe& earlier, const EarlierProbe& now, double limit);

} // namespace plumb::probe
