// Every variable by which `plumb run` and `plumb pin` talk to the shim. Nothing else configures it.
// X(identifier, "NAME", "effect")
#pragma once

#define PLUMB_ENVIRONMENT(X)                                                                                 \
    X(kRunDirectory, "PLUMB_RUN", "absolute path of the run directory; unset: record nothing")               \
    X(kCollectors, "PLUMB_COLLECTORS", "comma-separated names of collectors to start: threads,heap,...")     \
    X(kHeapMode, "PLUMB_HEAP", "sample (default), full or off")                                              \
    X(kHeapSampleBytes, "PLUMB_HEAP_SAMPLE_BYTES", "mean bytes between two sampled allocations (524288)")    \
    X(kInclude, "PLUMB_INCLUDE", "colon-separated globs of executables to record (default: all)")            \
    X(kExclude, "PLUMB_EXCLUDE", "colon-separated globs of executables to leave alone")                      \
    X(kFileLimit, "PLUMB_FILE_LIMIT", "bytes a process may record at most (8388608; 134217728 with every allocation)")                        \
    X(kTimerRate, "PLUMB_TIMER_HZ", "sample inside the process at this rate: perf events are forbidden")     \
    X(kTimeline, "PLUMB_TIMELINE", "bytes of a ring, beside what PLUMB_FILE_LIMIT says, for the latest MPI calls, one by one")  \
    X(kPinList, "PLUMB_PIN", "list of CPU numbers (0,2,4-7) in the order threads are to take them")            \
    X(kAllowedCpus, "PLUMB_ALLOWED", "list of the CPUs the job was given: what relative numbers count over")  \
    X(kPinGroup, "PLUMB_PIN_GROUP", "file with the shared counter of the group's threads")                   \
    X(kPinMemory, "PLUMB_PIN_MEMORY", "prefer or strict: bind each pinned thread's memory to its CPU's node") \
    X(kPinSkip, "PLUMB_PIN_SKIP", "colon-separated globs of thread names and libraries not to pin")          \
    X(kPinStride, "PLUMB_PIN_STRIDE", "list positions each process of the group owns (threads per process)") \
    X(kAlign, "PLUMB_ALIGN", "find, exact or off (default): catch unaligned accesses by the alignment trap")  \
    X(kAlignModules, "PLUMB_ALIGN_MODULES", "colon-separated globs of libraries whose accesses count (default: all but the C library)") \
    X(kAlignSkip, "PLUMB_ALIGN_SKIP", "colon-separated globs of libraries whose accesses do not count")      \
    X(kAlignFatal, "PLUMB_ALIGN_FATAL", "1: let the first unaligned access end the program (SIGBUS)")        \
    X(kAlignRanges, "PLUMB_ALIGN_RANGES", "file of the code that PLUMB_ALIGN_FATAL is limited to: lines of path, tab, first-last: hexadecimal addresses inside the file, the last one included") \
    X(kRedact, "PLUMB_REDACT", "1: write no arguments, host names and folders (plumb run --redact)")         \
    X(kVerbose, "PLUMB_VERBOSE", "1: print these settings and what the shim does to stderr at start")

namespace plumb::environment {
#define PLUMB_X(identifier, name, effect) inline constexpr const char* identifier = name;
PLUMB_ENVIRONMENT(PLUMB_X)
#undef PLUMB_X
} // namespace plumb::environment
