// Settings of glibc's malloc that spare page faults, and huge pages for the heap.
#include "trial/cures/families.h"

#include <fmt/format.h>

namespace plumb::trial {

namespace {

constexpr double kMuchOnHugePages = 0.25; // of the memory: less is seldom what a program works on

// Why this setting of glibc's cannot be tried; empty: it can.
std::string why_not_set(const Facts& facts, const std::string& no_glibc, const std::string& tunable) {
    const auto set = facts.environment.find("GLIBC_TUNABLES");
    if (no_glibc.empty() && set != facts.environment.end() && set->second.find(tunable + "=") != std::string::npos)
        return tunable + " is set already";
    return no_glibc;
}

} // namespace

std::vector<Cure> malloc_setting_cures(const Facts& facts) {
    const std::string no_glibc = facts.has_glibc_malloc && facts.is_dynamic ? "" : "the program does not use glibc's malloc";
    const std::string many_faults = facts.page_fault_fraction >= kSpeaksFor
                                        ? fmt::format("{:.0f} % of the time is page faults", 100 * facts.page_fault_fraction)
                                        : "";
    Cure keep{.id = "keep-memory",
              .what = "let malloc keep freed memory",
              .family = "malloc-thresholds",
              .needs = "glibc-malloc",
              .change = {}};
    keep.change.tunables = "glibc.malloc.mmap_threshold=1073741824:glibc.malloc.trim_threshold=4294967296";
    keep.answers = {"glibc.malloc.trim_threshold"};
    keep.why_not = why_not_set(facts, no_glibc, "glibc.malloc.trim_threshold");
    keep.why_tried = many_faults;

    Cure huge{.id = "huge-pages",
              .what = "let malloc ask for huge pages",
              .family = "huge-pages",
              .needs = "glibc-malloc",
              .change = {}};
    huge.change.tunables = "glibc.malloc.hugetlb=1";
    huge.answers = {"glibc.malloc.hugetlb=1"};
    huge.why_tried = many_faults;
    huge.why_not = why_not_set(facts, no_glibc, "glibc.malloc.hugetlb");
    if (huge.why_not.empty() && (facts.huge_pages.empty() || facts.huge_pages == "never"))
        huge.why_not = "the kernel gives no transparent huge pages";
    else if (huge.why_not.empty() && facts.huge_pages == "always")
        huge.why_not = "the kernel gives huge pages to all memory already";

    Cure small{.id = "no-huge-pages", .what = "keep the kernel from using huge pages", .family = "huge-pages", .change = {}};
    small.change.launcher = {"plumb", "pin", "-q", "--unpinned", "--no-huge-pages", "--"};
    small.answers = {"--no-huge-pages"};
    if (facts.huge_pages.empty() || facts.huge_pages == "never")
        small.why_not = "the kernel gives no transparent huge pages";
    else if (facts.huge_pages == "madvise" && facts.huge_page_fraction == 0)
        small.why_not = "only memory that asks for huge pages gets them";
    // Processors keep fewer translations of huge pages: what uses a little of each of many is slower with them. No figure of a
    // run shows it.
    if (facts.huge_page_fraction >= kMuchOnHugePages)
        small.why_tried = fmt::format("{:.0f} % of the memory is on huge pages", 100 * facts.huge_page_fraction);

    Cure arenas{.id = "more-arenas",
                .what = "let threads share fewer heaps of malloc",
                .family = "malloc-arenas",
                .needs = "glibc-malloc",
                .change = {}};
    arenas.change.tunables = fmt::format("glibc.malloc.arena_max={}", 4 * facts.threads);
    arenas.answers = {"MALLOC_ARENA_MAX"};
    arenas.why_not = why_not_set(facts, no_glibc, "glibc.malloc.arena_max");
    if (arenas.why_not.empty() && facts.threads <= 8 * facts.cpus)
        arenas.why_not = "each thread can have a heap of its own already";
    return {keep, huge, small, arenas};
}

} // namespace plumb::trial
