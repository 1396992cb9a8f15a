#include "record/calibrate/known_bandwidth.h"

#include "record/calibrate/calibration.h"

#include <fmt/format.h>
#include <locale>
#include <optional>
#include <sstream>
#include <string>

namespace plumb::record {

namespace {

std::string name_of(const StreamMix& mix, const std::vector<TimedCpu>& cpus, uint64_t bytes_each_node) {
    std::string name = fmt::format("bandwidth {} {} {} {} {}", mix.loads, mix.stores, mix.updates, mix.past_caches, bytes_each_node);
    for (const TimedCpu& cpu : cpus)
        name += fmt::format(" {}@{}", cpu.cpu, cpu.node);
    return name;
}

// When it was measured, the bytes of all arrays, and the points.
std::string text_of(const BandwidthTime& time, uint64_t now_ns) {
    std::string text = fmt::format("{} {}", now_ns, time.bytes);
    for (const BandwidthPoint& point : time.points)
        text += fmt::format(" {} {:.0f} {:.0f} {:.0f}", point.threads, point.bytes_per_s, point.low, point.high);
    return text;
}

std::optional<BandwidthTime> parse(const std::string& text, uint64_t now_ns) {
    std::istringstream in(text);
    in.imbue(std::locale::classic());
    uint64_t then_ns = 0;
    BandwidthTime time;
    if (!(in >> then_ns >> time.bytes) || now_ns < then_ns || now_ns - then_ns > kFreshFor_ns)
        return std::nullopt;
    for (BandwidthPoint point; in >> point.threads >> point.bytes_per_s >> point.low >> point.high;)
        time.points.push_back(point);
    return time.points.empty() ? std::nullopt : std::optional(time);
}

} // namespace

BandwidthTime known_bandwidth(platform::MachineCache& cache, const StreamMix& mix, const std::vector<TimedCpu>& cpus,
                              uint64_t bytes_each_node, uint64_t now_ns, const std::function<BandwidthTime()>& measure) {
    const std::string name = name_of(mix, cpus, bytes_each_node);
    if (const auto kept = cache.find(name))
        if (const auto known = parse(*kept, now_ns))
            return *known;
    const BandwidthTime time = measure();
    if (!time.points.empty())
        cache.keep(name, text_of(time, now_ns));
    return time;
}

} // namespace plumb::record
