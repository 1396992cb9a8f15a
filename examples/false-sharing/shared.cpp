// The problem: the counts of two threads lie side by side in one cache line.
#include "survey.h"

struct Counts {
    std::atomic<uint64_t> low, high, sum; // others may look at them at any time
};
alignas(64) static Counts counts[kMostThreads];

int main(int argc, char** argv) { return run(counts, argc, argv); }
