#include "record/options.h"

#include <algorithm>

namespace plumb::record {

namespace {
const char* const kDefaultCollectors[] = {"sample", "place", "threads", "heap", "memory", "modules", "mpi", "bandwidth"};
}

bool Options::collects(const std::string& collector) const {
    const auto named = [&](const auto& list) { return std::ranges::find(list, collector) != std::end(list); };
    return (named(kDefaultCollectors) || named(with)) && !named(without);
}

} // namespace plumb::record
