#include "probe/measure/turns.h"

#include "probe/measure/kernels.h"
#include "record/run/node_trace_writer.h"

#include <algorithm>

namespace plumb::probe {

namespace {

// Between two looks at the clock: some ten microseconds to hundreds.
constexpr uint64_t kRoundsALook = 8192, kAddRoundsALook = 4096, kAccessesALook = 512, kBytesALook = 256u << 10;
constexpr int kClockReads = 2000;

// `work` does a piece and returns how many operations it was.
template <class Work> Turn turn_of(uint64_t length_ns, Work&& work) {
    Turn turn;
    turn.best_ns = 1e18;
    const uint64_t begin_cpu_ns = record::thread_cpu_ns(), begin_ns = record::monotonic_ns();
    uint64_t now_ns = begin_ns;
    do {
        const auto done = static_cast<double>(work());
        const uint64_t later_ns = record::monotonic_ns();
        turn.best_ns = std::min(turn.best_ns, static_cast<double>(later_ns - now_ns) / done);
        turn.operations += done;
        now_ns = later_ns;
    } while (now_ns - begin_ns < length_ns);
    turn.cpu_ns = static_cast<double>(record::thread_cpu_ns() - begin_cpu_ns);
    turn.wall_ns = static_cast<double>(now_ns - begin_ns);
    return turn;
}

} // namespace

Turn compute_turn(uint64_t length_ns) {
    return turn_of(length_ns, [] { return multiply(kRoundsALook); });
}

Turn clock_turn(uint64_t length_ns) {
    return turn_of(length_ns, [] { return add_in_a_row(kAddRoundsALook); });
}

Turn follow_turn(void**& place, uint64_t length_ns) {
    return turn_of(length_ns, [&place] {
        place = follow(place, kAccessesALook);
        return kAccessesALook;
    });
}

Turn read_turn(const char* data, uint64_t bytes, uint64_t& offset, uint64_t length_ns) {
    const uint64_t piece = std::min(kBytesALook, bytes / 256 * 256);
    return turn_of(length_ns, [&] {
        if (offset + piece > bytes)
            offset = 0;
        read_lines(data + offset, piece);
        offset += piece;
        return piece;
    });
}

double clock_read_ns() {
    const uint64_t begin_ns = record::thread_cpu_ns();
    for (int i = 0; i < kClockReads; ++i)
        record::monotonic_ns();
    return static_cast<double>(record::thread_cpu_ns() - begin_ns) / kClockReads;
}

// From two places at which the clock and the counter were read within the shortest of some tries: in between, the thread may
// lose its CPU.
double time_stamps_per_s(uint64_t length_ns) {
    if (time_stamp() == 0)
        return 0;
    const auto both = [](uint64_t& ns) {
        uint64_t least = UINT64_MAX, stamp = 0;
        for (int i = 0; i < 20; ++i) {
            const uint64_t before = time_stamp(), now_ns = record::monotonic_ns(), after = time_stamp();
            if (after - before < least) {
                least = after - before;
                stamp = before + least / 2;
                ns = now_ns;
            }
        }
        return stamp;
    };
    uint64_t begin_ns = 0, end_ns = 0;
    const uint64_t begin = both(begin_ns);
    turn_of(length_ns, [] { return add_in_a_row(kAddRoundsALook); });
    const uint64_t end = both(end_ns);
    return end_ns > begin_ns ? static_cast<double>(end - begin) * 1e9 / static_cast<double>(end_ns - begin_ns) : 0;
}

} // namespace plumb::probe
