#include "diagnoses/memory/page_size_cause.h"

#include "analyses/lines/launch_command.h"
#include "model/alignment.h"

#include <fmt/format.h>

namespace plumb {

namespace {

using Cause = SmallPageCause;

// Shared anonymous memory, tmpfs, memfd and System V segments are files to the kernel.
bool is_shared_memory(const model::MemoryArea& area) {
    return area.path.starts_with("/dev/shm/") || area.path.starts_with("/dev/zero") ||
           area.path.starts_with("/memfd:") || area.path.starts_with("/SYSV") || (area.shared && !area.file);
}

std::string in_words(double seconds) {
    return seconds >= 120 ? fmt::format("{:.0f} minutes", seconds / 60) : fmt::format("{:.0f} s", seconds);
}

Advice by_allocator(const model::Run& run, const std::string& before) {
    return {"Let malloc ask for huge pages",
            before + "glibc's from 2.35 on does so for the whole heap with this tunable (an older one ignores it; "
                     "jemalloc: MALLOC_CONF=thp:always)",
            "launch", run.command.empty() ? "" : "GLIBC_TUNABLES=glibc.malloc.hugetlb=1 plumb run -- " + shell_line(run.command)};
}

Advice by_madvise(const std::string& before) {
    return {"Ask for huge pages where the memory is made",
            before + "begin it at a multiple of 2 MiB (aligned_alloc, or mmap and round up) and call madvise(start, bytes, "
                     "MADV_HUGEPAGE) before it is first touched",
            "code", ""};
}

Advice by_locality() {
    return {"Or bring together what is used together",
            "sort what is looked up by its place, or store it in the order of use (molecules by cell, nodes of a list from "
            "one array): neighbours share a page, and a cache line, too",
            "code", ""};
}

} // namespace

SmallPageCause small_page_cause(const model::PageScatter& scatter, const model::HugePages& settings) {
    if (scatter.forbidden)
        return Cause::forbidden;
    if (is_shared_memory(scatter.area))
        return scatter.eligible ? Cause::not_given : Cause::shared;
    if (scatter.area.file && !scatter.eligible)
        return Cause::file;
    if (scatter.refused)
        return Cause::refused;
    if (settings.enabled.empty())
        return Cause::not_built;
    if (settings.enabled == "never")
        return Cause::never;
    return scatter.eligible ? Cause::not_given : Cause::not_asked;
}

std::string words(SmallPageCause cause, const model::PageScatter& scatter, const model::HugePages& settings) {
    switch (cause) {
    case Cause::not_built:
        return "the kernel is built without transparent huge pages";
    case Cause::never:
        return "transparent huge pages are switched off on this machine (never)";
    case Cause::refused:
        return "huge pages are switched off for this process (prctl PR_SET_THP_DISABLE, perhaps by who started it)";
    case Cause::forbidden:
        return "the program, or its allocator, forbade huge pages for this memory (madvise MADV_NOHUGEPAGE)";
    case Cause::file:
        return "it is the mapping of a file, whose cached pages are small";
    case Cause::shared:
        return fmt::format("it is shared memory, for which huge pages are set to {}",
                           settings.shared_enabled.empty() ? "no known reason" : settings.shared_enabled);
    case Cause::not_asked:
        return fmt::format("transparent huge pages are set to {}, and the program did not request them for this memory",
                           settings.enabled);
    case Cause::not_given:
        break;
    }
    std::string text = fmt::format("the kernel may use huge pages here ({}), but only {:.0f} % of the memory had them",
                                   scatter.advised ? "madvise was called" : "set to " + settings.enabled,
                                   scatter.resident_bytes ? 100.0 * static_cast<double>(scatter.huge_bytes) /
                                                                static_cast<double>(scatter.resident_bytes)
                                                          : 0);
    text += ": it was touched in small pieces, before madvise was called, or when no huge page was free";
    if (!settings.defrag.empty())
        text += fmt::format(" (defrag is set to {})", settings.defrag);
    if (settings.scan_pages > 0 && settings.scan_sleep_ms > 0) {
        const double bytes_s =
            static_cast<double>(settings.scan_pages * model::kPageBytes) * 1000 / static_cast<double>(settings.scan_sleep_ms);
        text += fmt::format("; khugepaged would take {} to convert this much memory",
                            in_words(static_cast<double>(scatter.resident_bytes - scatter.huge_bytes) / bytes_s));
    }
    return text;
}

std::vector<Advice> huge_page_advice(SmallPageCause cause, const model::PageScatter& scatter, bool from_allocator,
                                     const model::Run& run) {
    std::vector<Advice> advice;
    const std::string by_command = "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled";
    switch (cause) {
    case Cause::not_asked:
        if (from_allocator)
            advice.push_back(by_allocator(run, ""));
        advice.push_back(by_madvise(""));
        advice.push_back({"Or give huge pages to all programs", "for administrators", "system",
                          "echo always > /sys/kernel/mm/transparent_hugepage/enabled"});
        break;
    case Cause::never:
        advice.push_back({"Switch transparent huge pages on", "for administrators; only programs that request them get them",
                          "system", by_command});
        advice.push_back(from_allocator ? by_allocator(run, "After that, ") : by_madvise("After that, "));
        break;
    case Cause::not_built:
        advice.push_back({"Take huge pages from hugetlbfs",
                          "an administrator reserves them (vm.nr_hugepages), and the program maps them with MAP_HUGETLB",
                          "system", ""});
        break;
    case Cause::refused:
        advice.push_back({"Do not switch huge pages off for this process",
                          "the call may be in the program, in a library, or in what starts the program (a batch system, a "
                          "container)",
                          "code", ""});
        break;
    case Cause::forbidden:
        advice.push_back({"Do not forbid huge pages for this memory",
                          "drop madvise(MADV_NOHUGEPAGE), or the allocator's option that calls it", "code", ""});
        break;
    case Cause::file:
        advice.push_back({"Read the file into memory of the program's own",
                          "and call madvise(MADV_HUGEPAGE) for that memory before it is touched", "code", ""});
        break;
    case Cause::shared:
        advice.push_back({"Switch huge pages on for shared memory",
                          scatter.area.path.starts_with("/dev/shm/")
                              ? "for administrators: mount /dev/shm with huge=advise; then madvise(MADV_HUGEPAGE)"
                              : "for administrators; then the program calls madvise(MADV_HUGEPAGE)",
                          "system", "echo advise > /sys/kernel/mm/transparent_hugepage/shmem_enabled"});
        break;
    case Cause::not_given:
        if (!scatter.advised && from_allocator)
            advice.push_back(by_allocator(run, ""));
        advice.push_back(by_madvise("Request them early: "));
        advice.push_back({"Let the kernel make free huge pages",
                          "for administrators: a page fault then waits for compaction, and the command compacts fragmented "
                          "memory now",
                          "system", "echo madvise > /sys/kernel/mm/transparent_hugepage/defrag; echo 1 > /proc/sys/vm/compact_memory"});
        break;
    }
    advice.push_back(by_locality());
    return advice;
}

} // namespace plumb
