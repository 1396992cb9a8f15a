#include "record/run/options.h"

#include <algorithm>

namespace plumb::record {

namespace {
const char* const kDefaultCollectors[] = {"sample", "place", "threads", "heap", "memory", "modules", "mpi", "openmp", "bandwidth", "wait"};
}

const std::vector<std::string>& collector_names() {
    static const std::vector<std::string> names = [] {
        std::vector<std::string> all(std::begin(kDefaultCollectors), std::end(kDefaultCollectors));
        all.insert(all.end(), {"align", "counters"}); // only with --with
        return all;
    }();
    return names;
}

bool Options::collects(const std::string& collector) const {
    const auto named = [&](const auto& list) { return std::ranges::find(list, collector) != std::end(list); };
    return (named(kDefaultCollectors) || named(with)) && !named(without);
}

} // namespace plumb::record
