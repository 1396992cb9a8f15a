#include "feed.h"
#include "target.h"

#include "placement/position_list.h"
#include "platform/cpu_list.h"
#include "platform/elf/elf_notes.h" // of the shim
#include "platform/huge_pages.h"
#include "platform/maps.h"
#include "platform/memory_counters.h"
#include "platform/node_stat.h"
#include "platform/os/maps_file.h" // of the shim
#include "platform/redaction.h"
#include "platform/task_stat.h"
#include "platform/task_syscall.h"
#include "support/error.h"

namespace plumb::fuzz {

namespace {

constexpr uint64_t kTicksPerSecond = 100;

void mappings(std::string_view text) {
    if (const auto mapping = platform::parse_mapping(text))
        require(mapping->path.size() <= text.size());
    shim::Mapping inside{};
    if (shim::parse_mapping(text.data(), text.data() + text.size(), &inside))
        require(inside.path_length == 0 ||
                (inside.path >= text.data() && inside.path + inside.path_length <= text.data() + text.size()));
}

void notes(std::string_view text) {
    for (const uint64_t alignment : {4, 8})
        require(shim::build_id_in_notes(reinterpret_cast<const uint8_t*>(text.data()), text.size(), alignment).size <= 20);
}

void cpus(std::string_view text) {
    if (const auto list = platform::parse_cpu_list(text)) {
        require(list->size() <= 65'536);
        require(platform::parse_cpu_list(platform::format_cpu_list(*list)) == list);
    }
}

void positions(std::string_view text) {
    try {
        for (const int position : placement::parse_position_list(text))
            require(position >= 0 && position < placement::kMostPositions);
    } catch (const Error&) {
    }
}

void redacted(std::string_view text) {
    require(platform::without_folders(std::string(text)).size() <= text.size() + 16);
    platform::file_name_of(std::string(text));
    require(platform::without_infos(std::string(text)).size() <= text.size());
    platform::job_alias(text);
}

struct Kind {
    void (*parse)(std::string_view text);
    const char* seed;
};

const Kind kKinds[] = {
    {mappings, "7f0000001000-7f0000003000 r-xp 00002000 fd:01 1234                       /usr/lib/libm.so.6"},
    {[](std::string_view text) { platform::parse_task_stat(text, kTicksPerSecond); },
     "42 (a (b) c) S 1 42 42 0 -1 4194560 100 0 3 0 12 5 0 0 20 0 3 0 12345 1000 200 184 1 1 0 0 0 0 0 0 0 0 0 0 17 1 0 0 0 0 0"},
    {[](std::string_view text) { platform::parse_task_scheduling(text); }, "123456 789 10\n"},
    {[](std::string_view text) { platform::parse_task_status(text); },
     "Name:\tapp\nUid:\t0\t1\t2\t3\nVmHWM:\t 1234 kB\nRssAnon:\t 5 kB\nCpus_allowed_list:\t0-3\nvoluntary_ctxt_switches:\t7\n"
     "nonvoluntary_ctxt_switches:\t8\n"},
    {[](std::string_view text) { platform::parse_migrations(text); }, "app (42, #threads: 3)\nse.nr_migrations   :   12\n"},
    {[](std::string_view text) { platform::parse_task_syscall(text); }, "202 0x7f00 0x80 0x2 0x0 0x0 0x0 0x7ffe00 0x7f0012\n"},
    {[](std::string_view text) { platform::parse_cpu_times(text, kTicksPerSecond); },
     "cpu  1 2 3 4 5 6 7 8 9 10\ncpu0 1 2 3 4 5 6 7 8 9 10\ncpu1 1 2 3\nintr 5\n"},
    {[](std::string_view text) { platform::parse_interrupts(text); },
     "           CPU0       CPU1\n  24:  12  3  PCI-MSI 1-edge  virtio1-req.0\nLOC:  5  6  Local timer interrupts\n"},
    {[](std::string_view text) { platform::parse_node_memory(0, text.substr(0, text.find('\v')), text.substr(std::min(text.size(), text.find('\v')))); },
     "Node 0 MemTotal: 100 kB\nNode 0 MemFree: 50 kB\nNode 0 FilePages: 9 kB\n\vnuma_hit 5\nnuma_miss 1\nlocal_node 4\nnuma_foreign 2\n"},
    {[](std::string_view text) { platform::parse_vmstat(text); }, "numa_hit 5\npgmigrate_success 7\nthp_fault_alloc 1\nother 3\n"},
    {[](std::string_view text) { platform::parse_numastat(1, text); }, "numa_hit 5\nnuma_miss 7\n"},
    {[](std::string_view text) { platform::parse_smaps(text); },
     "7f0000001000-7f0000003000 rw-p 00000000 00:00 0 [heap]\nRss:  8 kB\nAnonHugePages: 0 kB\nTHPeligible: 1\nVmFlags: rd wr hg\n"},
    {cpus, "0-3,8,10-11,16-31:1/2\n"},
    {positions, "0,2,4-7,8-14:2"},
    {notes, "\4\0\0\0\4\0\0\0\3\0\0\0GNU\0abcd"},
    {redacted, "<info name=\"HostName\" value=\"h\"/> at /home/user/code/a.c:12, in ../b/c and /usr/lib/libm.so"},
};

} // namespace

// The first byte chooses the parser.
void run_proc_files(Bytes input) {
    if (input.empty())
        return;
    const std::string exact(as_text(input.subspan(1))); // with a sanitizer, its end is watched
    kKinds[input[0] % std::size(kKinds)].parse(exact);
}

Seeds seeds_of_proc_files() {
    Seeds seeds;
    for (size_t i = 0; i < std::size(kKinds); ++i) {
        const bool is_binary = kKinds[i].parse == notes;
        seeds.emplace_back(std::to_string(i), std::string(1, static_cast<char>(i)) +
                                                  (is_binary ? std::string(kKinds[i].seed, 20) : std::string(kKinds[i].seed)));
    }
    return seeds;
}

} // namespace plumb::fuzz
