#include "platform/huge_pages.h"

#include "platform/read_file.h"

#include <algorithm>
#include <unistd.h>

namespace plumb::platform {

namespace {

constexpr size_t kMostText = 64u << 20; // of smaps: some 60,000 mappings

// "always [madvise] never" -> "madvise"
std::string chosen(const std::string& path) {
    const std::string text = read_file(path).value_or("");
    const size_t from = text.find('['), to = text.find(']');
    return from == text.npos || to == text.npos || to < from ? "" : text.substr(from + 1, to - from - 1);
}

uint64_t number(const std::string& path) {
    const auto value = read_number(path);
    return value && *value > 0 ? static_cast<uint64_t>(*value) : 0;
}

bool has_word(std::string_view text, std::string_view wanted) {
    for (std::string_view word = next_word(text); !word.empty(); word = next_word(text))
        if (word == wanted)
            return true;
    return false;
}

} // namespace

HugePageSettings read_huge_page_settings(const std::string& root) {
    const std::string folder = root + "/sys/kernel/mm/transparent_hugepage/";
    HugePageSettings settings;
    settings.enabled = chosen(folder + "enabled");
    settings.defrag = chosen(folder + "defrag");
    settings.shared_enabled = chosen(folder + "shmem_enabled");
    settings.page_bytes = number(folder + "hpage_pmd_size");
    settings.scan_pages = number(folder + "khugepaged/pages_to_scan");
    settings.scan_sleep_ms = number(folder + "khugepaged/scan_sleep_millisecs");
    return settings;
}

std::vector<PageBacking> parse_smaps(std::string_view text) {
    std::vector<PageBacking> areas;
    while (!text.empty()) {
        std::string_view line = next_line(text);
        // "Rss:  12 kB": the name of a field begins with a capital, a mapping with a digit of its address.
        if (!line.empty() && (line[0] < 'A' || line[0] > 'Z')) {
            if (auto mapping = parse_mapping(line))
                areas.push_back({.mapping = std::move(*mapping)});
            continue;
        }
        if (areas.empty())
            continue;
        PageBacking& area = areas.back();
        const std::string_view name = next_word(line);
        if (name == "VmFlags:") {
            area.advised = has_word(line, "hg");
            area.forbidden = has_word(line, "nh");
            continue;
        }
        const uint64_t value = to_u64(next_word(line));
        if (name == "THPeligible:")
            area.eligible = value != 0;
        else if (name == "Rss:")
            area.resident_bytes += value * 1024;
        else if (name == "AnonHugePages:" || name == "ShmemPmdMapped:" || name == "FilePmdMapped:")
            area.huge_bytes += value * 1024;
        else if (name == "Shared_Hugetlb:" || name == "Private_Hugetlb:") {
            area.resident_bytes += value * 1024; // not in Rss
            area.huge_bytes += value * 1024;
        }
    }
    return areas;
}

std::vector<PageBacking> read_page_backing(const std::string& proc_root, uint32_t pid) {
    const auto text = read_file(proc_root + "/" + std::to_string(pid) + "/smaps", kMostText);
    return text ? parse_smaps(*text) : std::vector<PageBacking>();
}

std::optional<PageBacking> read_whole_backing(const std::string& proc_root, uint32_t pid) {
    const auto text = read_file(proc_root + "/" + std::to_string(pid) + "/smaps_rollup");
    const std::vector<PageBacking> all = text ? parse_smaps(*text) : std::vector<PageBacking>();
    return all.empty() ? std::nullopt : std::optional(all.front());
}

bool refuses_huge_pages(const std::string& proc_root, uint32_t pid) {
    const auto text = read_file(proc_root + "/" + std::to_string(pid) + "/status");
    std::string_view rest = text ? std::string_view(*text) : std::string_view();
    while (!rest.empty()) {
        std::string_view line = next_line(rest);
        if (next_word(line) == "THP_enabled:")
            return next_word(line) == "0";
    }
    return false;
}

uint64_t resident_bytes(const std::string& proc_root, uint32_t pid) {
    const auto text = read_file(proc_root + "/" + std::to_string(pid) + "/statm");
    std::string_view rest = text ? std::string_view(*text) : std::string_view();
    next_word(rest);
    return to_u64(next_word(rest)) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

} // namespace plumb::platform
