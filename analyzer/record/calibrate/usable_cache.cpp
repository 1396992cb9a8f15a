#include "record/calibrate/usable_cache.h"

#include "platform/anonymous_memory.h"
#include "record/calibrate/calibration.h"
#include "record/run/node_trace_writer.h"
#include "support/memory_units.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <locale>
#include <optional>
#include <sstream>
#include <string>

namespace plumb::record {

namespace {

constexpr double kSlower = 1.3; // than out of the cache: it is not kept
constexpr uint64_t kPiece = 1 << 20;
constexpr uint64_t kSweep_ns = 5'000'000;
constexpr int kSweeps = 3;

class SweptMemory {
  public:
    explicit SweptMemory(uint64_t bytes) : memory_(bytes) {}

    // The best of some turns, each of whole pieces: others may be in the way now and then. 0: there is no memory for it.
    double rate_of(uint64_t bytes) {
        bytes = bytes / kPiece * kPiece;
        if (!memory_ || bytes == 0 || bytes > memory_.bytes())
            return 0;
        if (bytes > filled_)
            std::memset(memory_.data() + filled_, 1, bytes - filled_);
        filled_ = std::max(filled_, bytes);
        for (uint64_t at = 0; at < bytes; at += kPiece)
            read(at);
        double best = 0;
        uint64_t at = 0;
        for (int turn = 0; turn < kSweeps; ++turn) {
            const uint64_t begin_ns = thread_cpu_ns();
            uint64_t took_ns = 0, moved = 0;
            for (; took_ns < kSweep_ns; took_ns = thread_cpu_ns() - begin_ns) {
                read(at);
                moved += kPiece;
                at = (at + kPiece) % bytes;
            }
            best = std::max(best, static_cast<double>(moved) * 1e9 / static_cast<double>(took_ns));
        }
        return best;
    }

  private:
    void read(uint64_t from) const {
        const volatile char* const piece = memory_.data() + from;
        for (uint64_t at = 0; at < kPiece; at += kLine)
            static_cast<void>(*reinterpret_cast<const volatile uint64_t*>(piece + at));
    }

    platform::AnonymousMemory memory_;
    uint64_t filled_ = 0;
};

std::optional<uint64_t> parse_kept(const std::string& text, uint64_t now_ns) {
    std::istringstream in(text);
    in.imbue(std::locale::classic());
    uint64_t then_ns = 0, bytes = 0;
    if (!(in >> then_ns >> bytes) || now_ns < then_ns || now_ns - then_ns > kFreshFor_ns)
        return std::nullopt;
    return bytes;
}

} // namespace

uint64_t usable_cache_bytes(uint64_t said_bytes, const std::function<double(uint64_t)>& rate_of) {
    double best = 0;
    const uint64_t most = said_bytes / 2; // if that is kept, all of it is
    for (uint64_t bytes = kLeastUsableCache_bytes; bytes <= most;
         bytes = bytes < most ? std::min(bytes * 2, most) : most + 1) {
        const double rate = rate_of(bytes);
        if (rate * kSlower < best)
            return bytes;
        best = std::max(best, rate);
    }
    return said_bytes;
}

uint64_t known_usable_cache_bytes(platform::MachineCache& cache, uint64_t said_bytes, uint64_t most_bytes, uint64_t now_ns) {
    const std::string name = fmt::format("usable cache {}", said_bytes);
    if (const auto kept = cache.find(name))
        if (const auto known = parse_kept(*kept, now_ns))
            return *known;
    if (said_bytes / 2 > most_bytes)
        return said_bytes;
    SweptMemory memory(said_bytes / 2);
    const uint64_t usable = usable_cache_bytes(said_bytes, [&](uint64_t bytes) { return memory.rate_of(bytes); });
    cache.keep(name, fmt::format("{} {}", now_ns, usable));
    return usable;
}

} // namespace plumb::record
