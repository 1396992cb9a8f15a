#include "record/run/flag_scan_list.h"

#include "platform/private_file.h"
#include "platform/read_file.h"

#include <fcntl.h>
#include <plumb/flag_scan_list.h>
#include <set>
#include <unistd.h>

namespace plumb::record {

namespace {

using flag_scan::Entry;
constexpr size_t kMostBytes = flag_scan::kEntriesMax * sizeof(Entry), kMostKept = kMostBytes / 4 * 3;

std::string name_in_cache() { return "flag scan " + std::to_string(flag_scan::kScan); }

std::string list_of(const std::string& run_directory) { return run_directory + "/" + flag_scan::kFileName; }

} // namespace

void seed_flag_scan_list(platform::MachineCache& cache, const std::string& run_directory) {
    const auto known = cache.find(name_in_cache());
    if (!known)
        return;
    const platform::Descriptor list(
        open(list_of(run_directory).c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (list && write(list.get(), known->data(), known->size()) < 0)
        return; // the shims look for themselves
}

void keep_flag_scan_list(platform::MachineCache& cache, const std::string& run_directory) {
    const std::string list = platform::read_file(list_of(run_directory), kMostBytes).value_or("");
    std::set<std::string_view> met; // processes may have found the same at once
    std::string kept;
    for (size_t at = 0; at + sizeof(Entry) <= list.size(); at += sizeof(Entry))
        if (const std::string_view entry = std::string_view(list).substr(at, sizeof(Entry)); met.insert(entry).second)
            kept += entry;
    if (kept.size() > kMostKept)
        kept.erase(0, kept.size() - kMostKept);
    if (!kept.empty() && cache.find(name_in_cache()) != kept)
        cache.keep(name_in_cache(), std::move(kept));
}

} // namespace plumb::record
