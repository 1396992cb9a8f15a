#include "record/align/code/code_ranges.h"

#include "platform/elf/elf_notes.h"
#include "platform/os/files.h"
#include "platform/os/memory.h"
#include "platform/os/text.h"
#include "record/align/code/fatal_ranges.h"
#include "record/align/code/flag_code.h"
#include "record/align/code/flag_scan_cache.h"
#include "record/process/process_filter.h"
#include "record/process/settings.h"

#include <atomic>
#include <limits.h>
#include <link.h>
#include <string.h>

namespace plumb::shim {
namespace {

struct Range {
    uint64_t start, end;
    bool excluded, left_alone;
};
constexpr uint32_t kRangesMax = 8192;

// Two tables take turns. Handlers read the published one; it is rewritten only by the second renewal after that, so
// that a handler which is overtaken misjudges one hit at worst.
struct Table {
    uint32_t count;
    Range ranges[kRangesMax];
};
Table* tables = nullptr;
std::atomic<uint32_t> published{0};
std::atomic<uint32_t> generation{0};
std::atomic<uint32_t> renewing{0};
std::atomic<bool> go_code{false};
FlagCode flag_code = {};

constexpr const char* kNeverCounted[] = {"libc.so*",        "libc-[0-9]*.so", "ld-linux*", "ld-[0-9]*.so", "ld.so*",
                                         "libpthread*.so*", "libplumb*.so*",  "libZydis*", "libZycore*",   "linux-vdso*"};
constexpr const char* kCountedOnRequest[] = {"libm.so*",      "libm-[0-9]*.so", "libmvec*.so*",     "libgcc_s*.so*",
                                             "libstdc++.so*", "libgfortran.so*", "libquadmath.so*", "libdl.so*",
                                             "librt.so*"};

bool matches_one(const char* pattern, const char* name) {
    return matches_glob(pattern, pattern + strlen(pattern), name);
}

// A colon-separated list, each matched against the path and the base name.
bool matches_list(const char* list, const char* path) {
    while (list && *list) {
        const char* colon = strchr(list, ':');
        const char* end = colon ? colon : list + strlen(list);
        if (end > list && (matches_glob(list, end, path) || matches_glob(list, end, base_name(path))))
            return true;
        list = colon ? colon + 1 : nullptr;
    }
    return false;
}

bool is_never_counted(const char* path) {
    for (const char* pattern : kNeverCounted)
        if (matches_one(pattern, base_name(path)))
            return true;
    return false;
}

bool is_excluded(const char* path) {
    if (is_never_counted(path))
        return true;
    if (matches_list(settings.text(Setting::kAlignSkip), path))
        return true;
    if (const char* wanted = settings.text(Setting::kAlignModules))
        return !matches_list(wanted, path);
    for (const char* pattern : kCountedOnRequest)
        if (matches_one(pattern, base_name(path)))
            return true;
    return false;
}

bool is_go(const dl_phdr_info& image) {
    constexpr uint32_t kGoBuildId = 4;
    for (uint32_t i = 0; i < image.dlpi_phnum; ++i) {
        const ElfW(Phdr)& header = image.dlpi_phdr[i];
        if (header.p_type != PT_NOTE || header.p_memsz < sizeof(ElfW(Nhdr)) + 4)
            continue;
        const char* at = reinterpret_cast<const char*>(image.dlpi_addr + header.p_vaddr);
        const char* end = at + header.p_memsz;
        while (at + sizeof(ElfW(Nhdr)) + 4 <= end) {
            ElfW(Nhdr) note;
            memcpy(&note, at, sizeof note);
            if (note.n_type == kGoBuildId && note.n_namesz == 4 && memcmp(at + sizeof note, "Go\0", 4) == 0)
                return true;
            const uint64_t bytes = sizeof note + ((note.n_namesz + 3ull) & ~3ull) + ((note.n_descsz + 3ull) & ~3ull);
            if (bytes > static_cast<uint64_t>(end - at))
                break;
            at += bytes;
        }
    }
    return false;
}

// Of the last renewal; null: there was none.
const Range* known_range(uint64_t start, uint64_t end) {
    const Table& table = tables[published.load(std::memory_order_relaxed)];
    for (uint32_t i = 0; i < table.count; ++i)
        if (table.ranges[i].start == start && table.ranges[i].end == end)
            return &table.ranges[i];
    return nullptr;
}

void look_for_flag_code(const char* path, const dl_phdr_info& image, const ElfW(Phdr)& header) {
    const uint64_t start = image.dlpi_addr + header.p_vaddr, end = start + header.p_filesz;
    if (flag_code.offset != 0 || !(header.p_flags & PF_R) || known_range(start, start + header.p_memsz))
        return;
    const BuildId id = build_id_of_image(image.dlpi_addr, image.dlpi_phdr, image.dlpi_phnum);
    if (is_known_flag_free(id, header.p_vaddr))
        return;
    const uint64_t found = find_flag_code(start, end);
    if (found == 0) {
        remember_flag_free(id, header.p_vaddr);
        return;
    }
    flag_code.module.clear();
    flag_code.module << base_name(path);
    flag_code.offset = found - image.dlpi_addr;
}

struct Renewal {
    Table* table;
    bool is_program; // the program itself is always the first
    uint64_t unloaded, former_unloaded; // of the loader's images, until now and until the last renewal
    char executable[PATH_MAX];
};

int add_image(dl_phdr_info* image, size_t, void* data) {
    auto& renewal = *static_cast<Renewal*>(data);
    const bool is_program = renewal.is_program;
    renewal.is_program = false;
    renewal.unloaded = image->dlpi_subs;
    const char* path = is_program ? renewal.executable : image->dlpi_name ? image->dlpi_name : "";
    for (uint32_t i = 0; i < image->dlpi_phnum; ++i) {
        const ElfW(Phdr)& header = image->dlpi_phdr[i];
        if (header.p_type != PT_LOAD || !(header.p_flags & PF_X) || renewal.table->count == kRangesMax)
            continue;
        const uint64_t start = image->dlpi_addr + header.p_vaddr, end = start + header.p_memsz;
        Range& range = renewal.table->ranges[renewal.table->count++];
        // Where nothing was unloaded, what lies in a known place is the known image. Programs open hundreds one by one.
        if (const Range* known = renewal.unloaded == renewal.former_unloaded ? known_range(start, end) : nullptr) {
            range = *known;
            continue;
        }
        range = {start, end, !is_program && is_excluded(path), !is_program && is_never_counted(path)};
        if (is_go(*image))
            go_code.store(true, std::memory_order_relaxed);
        if (!range.left_alone)
            look_for_flag_code(path, *image, header);
    }
    note_module_for_fatal_ranges(path, image->dlpi_addr);
    return 0;
}

// By start; insertion, because the loader lists modules nearly in the order of their addresses already or backwards,
// and there are some hundred.
void sort(Table& table) {
    for (uint32_t i = 1; i < table.count; ++i) {
        const Range range = table.ranges[i];
        uint32_t place = i;
        for (; place > 0 && table.ranges[place - 1].start > range.start; --place)
            table.ranges[place] = table.ranges[place - 1];
        table.ranges[place] = range;
    }
}

} // namespace

void renew_code_ranges() {
    if (renewing.exchange(1, std::memory_order_acquire))
        return;
    if (!tables) {
        tables = static_cast<Table*>(allocate_pages(2 * sizeof(Table), false));
        if (!tables) {
            renewing.store(0, std::memory_order_release);
            return;
        }
    }
    const uint32_t next = 1 - published.load(std::memory_order_relaxed);
    static Renewal renewal; // of the one thread that is here
    renewal.table = &tables[next];
    renewal.table->count = 0;
    renewal.is_program = true;
    renewal.former_unloaded = renewal.unloaded;
    if (read_link("/proc/self/exe", renewal.executable, sizeof renewal.executable) <= 0)
        renewal.executable[0] = '\0';
    begin_fatal_ranges();
    dl_iterate_phdr(add_image, &renewal);
    sort(tables[next]);
    published.store(next, std::memory_order_release);
    generation.fetch_add(1, std::memory_order_release);
    renewing.store(0, std::memory_order_release);
}

CodeFacts facts_of_code(uint64_t address) {
    const bool fatal = is_in_fatal_ranges(address);
    if (!tables)
        return {false, false, fatal};
    const Table& table = tables[published.load(std::memory_order_acquire)];
    uint32_t low = 0, high = table.count < kRangesMax ? table.count : kRangesMax;
    while (low < high) { // the first range that starts behind the address
        const uint32_t middle = (low + high) / 2;
        if (table.ranges[middle].start > address)
            high = middle;
        else
            low = middle + 1;
    }
    if (low == 0 || address >= table.ranges[low - 1].end)
        return {false, false, fatal};
    return {table.ranges[low - 1].excluded, table.ranges[low - 1].left_alone, fatal};
}

uint32_t code_ranges_generation() { return generation.load(std::memory_order_acquire); }
const FlagCode* code_that_handles_flags() { return flag_code.offset != 0 ? &flag_code : nullptr; }
bool has_go_code() { return go_code.load(std::memory_order_relaxed); }

} // namespace plumb::shim
