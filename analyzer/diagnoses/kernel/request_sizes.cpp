#include "diagnoses/kernel/request_sizes.h"

#include <algorithm>
#include <string_view>

namespace plumb {

namespace {

constexpr double kLarge_bytes = 16384; // moving that takes several times what a call costs
constexpr std::string_view kReads[] = {"read", "readv", "pread", "pread64", "preadv", "preadv2"};
constexpr std::string_view kWrites[] = {"write", "writev", "pwrite", "pwrite64", "pwritev", "pwritev2"};

} // namespace

bool RequestSizes::are_large() const { return mean_bytes() >= kLarge_bytes; }

RequestSizes request_sizes(const model::Run& run, const KernelCause& cause, const std::set<size_t>& processes) {
    const bool reads = std::ranges::find(kReads, cause.name) != std::end(kReads);
    const bool writes = std::ranges::find(kWrites, cause.name) != std::end(kWrites);
    RequestSizes sizes;
    if (cause.kind != KernelCause::Kind::system_call || (!reads && !writes))
        return sizes;
    for (const size_t index : processes) {
        const model::Process& process = run.processes[index];
        sizes.calls += reads ? process.read_calls : process.write_calls;
        sizes.bytes += reads ? process.read_bytes : process.write_bytes;
    }
    return sizes;
}

} // namespace plumb
