#include "analyses/memory/small_blocks.h"

#include "analyses/lines/line_shares.h"

#include <algorithm>
#include <map>

namespace plumb {

namespace {

constexpr double kLargeBytes = 1 << 20; // blocks from this size on are recorded one by one
constexpr uint64_t kFewestSamples = 30; // a share of one half is then known to within 10 points
constexpr double kLeastShare = 0.2;

} // namespace

std::vector<SmallBlockSite> small_block_sites(model::CallPaths& paths, size_t process) {
    std::map<std::string, double> bytes_by_place;
    double total = 0;
    uint64_t samples = 0;
    for (const model::HeapSite& site : paths.run().processes[process].heap.sites) {
        const auto allocations = static_cast<double>(site.allocations), bytes = static_cast<double>(site.allocated_bytes);
        if (allocations <= 0 || bytes >= kLargeBytes * allocations || site.peak_live_bytes == 0)
            continue;
        const model::SourceFrame frame = paths.user_frame(process, site.path);
        const auto live = static_cast<double>(site.peak_live_bytes);
        samples += site.samples;
        total += live;
        if (!frame.module.empty())
            bytes_by_place[place_name({.file = frame.file, .function = frame.function, .module = frame.module,
                                       .line = frame.line, .share = 0, .inlined_from = ""})] += live;
    }
    std::vector<SmallBlockSite> sites;
    if (samples < kFewestSamples || total <= 0)
        return sites;
    for (const auto& [place, bytes] : bytes_by_place)
        if (bytes >= kLeastShare * total)
            sites.push_back({place, bytes / total});
    std::ranges::stable_sort(sites, std::greater<>(), &SmallBlockSite::share);
    return sites;
}

} // namespace plumb
