// Scanning happens in two steps. Under the loader's list lock only numbers are copied (ranges, build ids); no
// file is read and nothing is allocated there. Then /proc/self/maps says which file stands behind each range: the
// file that was mapped, which since may have been deleted or replaced under its path.
#include "record/modules.h"

#include "platform/code/signals_blocked.h"
#include "platform/elf/elf_notes.h"
#include "platform/os/files.h"
#include "platform/os/ids_and_clocks.h"
#include "platform/os/mapping_query.h"
#include "platform/os/maps_file.h"
#include "platform/os/memory.h"
#include "platform/os/system_call.h"
#include "platform/unwind/unwind_table.h"
#include "record/align/alignment_collector.h"
#include "record/process/file_quota.h"
#include "record/process/process.h"
#include "record/process/trace_writer.h"

#include <errno.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>

namespace plumb::shim {
namespace {

struct Module { // one executable segment of one loaded image
    uint64_t start, end;
    uint64_t load_base;
    uint64_t file_offset;
    uint64_t device, inode;
    BuildId build_id;
    uint32_t id;    // 0: not yet recorded, kNotRecorded: never
    uint32_t scan;  // number of the last scan that saw it
    uint32_t flags; // trace::ModuleFlags
    trace::StringId path;
};
constexpr uint32_t kModulesMax = 8192;
constexpr uint32_t kNotRecorded = UINT32_MAX;
constexpr uint32_t kUsualPathBytes = 80;
constexpr size_t kMapsBuffer = 64 * 1024;

Module* modules = nullptr; // kModulesMax of them, touched as used
uint32_t module_count = 0; // places used; those with end == 0 are free
uint32_t module_ids = 0;
uint32_t scans = 0;
uint64_t seen_adds = 0, seen_subs = 0; // the loader's counters at the last scan
std::atomic<uint32_t> scanning{0};
std::atomic<uint32_t> due{0};

// Null `build_id`: any.
Module* find(uint64_t start, uint64_t end, uint64_t load_base, const BuildId* build_id) {
    for (uint32_t i = 0; i < module_count; ++i) {
        Module& module = modules[i];
        if (module.start == start && module.end == end && module.load_base == load_base &&
            (!build_id || memcmp(&module.build_id, build_id, sizeof *build_id) == 0))
            return &module;
    }
    return nullptr;
}

Module* add() {
    for (uint32_t i = 0; i < module_count; ++i)
        if (modules[i].end == 0)
            return &modules[i];
    return module_count < kModulesMax ? &modules[module_count++] : nullptr;
}

struct Scan {
    const uint64_t former_subs; // seen_subs at its begin
    bool is_main = true;        // the program itself is always the first
};

int copy_image(dl_phdr_info* image, size_t, void* data) {
    seen_adds = image->dlpi_adds;
    seen_subs = image->dlpi_subs;
    Scan& scan = *static_cast<Scan*>(data);
    // Where nothing was unloaded, what lies in a known place is the known image: a program that opens a hundred libraries one by
    // one would read ten thousand build ids.
    const bool others_came = image->dlpi_subs != scan.former_subs;
    BuildId build_id{};
    bool has_id = false;
    const auto know_id = [&] {
        if (!has_id)
            build_id = build_id_of_image(image->dlpi_addr, image->dlpi_phdr, image->dlpi_phnum);
        has_id = true;
        return &build_id;
    };
    const uint64_t vdso = getauxval(AT_SYSINFO_EHDR);
    for (uint32_t i = 0; i < image->dlpi_phnum; ++i) {
        const ElfW(Phdr)& header = image->dlpi_phdr[i];
        if (header.p_type != PT_LOAD || !(header.p_flags & PF_X))
            continue;
        const uint64_t page = 4096 - 1;
        const uint64_t start = (image->dlpi_addr + header.p_vaddr) & ~page;
        const uint64_t end = (image->dlpi_addr + header.p_vaddr + header.p_memsz + page) & ~page;
        Module* module = find(start, end, image->dlpi_addr, others_came ? know_id() : nullptr);
        if (!module) {
            if (!(module = add()))
                continue;
            *module = {};
            module->start = start;
            module->end = end;
            module->load_base = image->dlpi_addr;
            module->file_offset = header.p_offset & ~page;
            module->build_id = *know_id();
            module->flags = scan.is_main ? uint32_t{trace::kModuleMain} : 0;
            if (vdso >= start && vdso < end)
                module->flags |= trace::kModuleVdso;
        }
        module->scan = scans;
    }
    scan.is_main = false;
    return 0;
}

bool wants_name(const Module& module) { return module.end != 0 && module.id == 0 && module.path == 0; }

void name_module(const Guard& guard, Module& module, const Mapping& mapping) {
    if (!mapping.executable || mapping.path_length == 0)
        return;
    module.device = mapping.device;
    module.inode = mapping.inode;
    if (mapping.deleted)
        module.flags |= trace::kModuleDeleted;
    module.path = write_string(guard, mapping.path, mapping.path_length);
}

struct Lookup {
    const Guard& guard;
};

bool name_modules_of(const Mapping& mapping, void* data) {
    for (uint32_t i = 0; i < module_count; ++i)
        if (wants_name(modules[i]) && mapping.start <= modules[i].start && modules[i].start < mapping.end)
            name_module(static_cast<Lookup*>(data)->guard, modules[i], mapping);
    return true;
}

// The whole list takes half a millisecond in a program of a few hundred libraries, many of which are opened one by one.
// False: the kernel does not answer questions about single mappings, or not this one.
bool name_one_by_one(const Guard& guard, char* buffer) {
    const int descriptor = open_file("/proc/self/maps", O_RDONLY);
    if (descriptor < 0)
        return false;
    bool answered = true;
    for (uint32_t i = 0; i < module_count && answered; ++i) {
        if (!wants_name(modules[i]))
            continue;
        Mapping mapping;
        const int error = query_mapping(descriptor, modules[i].start, buffer, kMapsBuffer, &mapping);
        if (error == 0)
            name_module(guard, modules[i], mapping);
        answered = error == 0 || error == -ENOENT;
    }
    close_file(descriptor);
    return answered;
}

void write_load(const Guard& guard, Module& module, uint64_t time_ns) {
    module.id = ++module_ids;
    trace::ModuleLoad load = {};
    load.id = module.id;
    load.pid = recorded_pid();
    load.time_ns = time_ns;
    load.start = module.start;
    load.end = module.end;
    load.file_offset = module.file_offset;
    load.device = module.device;
    load.inode = module.inode;
    memcpy(load.build_id, module.build_id.bytes, sizeof load.build_id);
    load.build_id_size = module.build_id.size;
    load.path = module.path;
    load.flags = module.flags;
    append(guard, trace::RecordType::ModuleLoad, load);
}

void write_new(const Guard& guard, uint64_t time_ns) {
    constexpr uint32_t bytes = sizeof(trace::ModuleLoad) + sizeof(trace::ModuleUnload) + kUsualPathBytes;
    for (uint32_t i = 0; i < module_count; ++i)
        if (modules[i].end != 0 && modules[i].id == 0 && !spend(guard, FileQuota::modules, bytes))
            modules[i].id = kNotRecorded;
    if (char* buffer = static_cast<char*>(allocate_pages(kMapsBuffer, false))) {
        Lookup lookup{guard};
        if (!name_one_by_one(guard, buffer))
            for_each_mapping("/proc/self/maps", buffer, kMapsBuffer, name_modules_of, &lookup);
        release_pages(buffer, kMapsBuffer);
    }
    for (uint32_t i = 0; i < module_count; ++i)
        if (modules[i].end != 0 && modules[i].id == 0)
            write_load(guard, modules[i], time_ns);
}

void write_unload(const Guard& guard, Module& module, uint64_t time_ns) {
    trace::ModuleUnload unload = {};
    unload.id = module.id;
    unload.pid = recorded_pid();
    unload.time_ns = time_ns;
    if (module.id != kNotRecorded)
        append(guard, trace::RecordType::ModuleUnload, unload);
    module = {};
}

int read_counters(dl_phdr_info* image, size_t, void* changed) {
    *static_cast<bool*>(changed) = image->dlpi_adds != seen_adds || image->dlpi_subs != seen_subs;
    return 1; // the first image says it all
}

} // namespace

void scan_modules(const Guard& guard) {
    const SignalsBlocked blocked; // a scan that a handler jumps out of would be the last one, and keep the loader's lock
    // A second thread leaves the work to the one that is at it, which may be at its end: due again.
    if (scanning.exchange(1, std::memory_order_acquire)) {
        due.store(1, std::memory_order_relaxed);
        return;
    }
    const uint64_t begin_ns = now_ns();
    due.store(0, std::memory_order_relaxed);
    if (!modules)
        modules = static_cast<Module*>(allocate_pages(kModulesMax * sizeof(Module), false));
    if (modules) {
        ++scans;
        Scan scan{seen_subs};
        dl_iterate_phdr(copy_image, &scan);
        bool any_new = false, any_gone = false;
        for (uint32_t i = 0; i < module_count; ++i) {
            Module& module = modules[i];
            if (module.end != 0 && module.scan != scans) {
                write_unload(guard, module, begin_ns);
                any_gone = true;
            }
            any_new |= module.end != 0 && module.id == 0;
        }
        if (any_gone)
            forget_unwind_rules();
        if (any_new)
            write_new(guard, begin_ns);
    }
    alignment_modules_changed();
    trace_file().add_own_cost(now_ns() - begin_ns);
    scanning.store(0, std::memory_order_release);
}

uint64_t modules_unloaded() {
    uint64_t count = 0;
    dl_iterate_phdr(
        [](dl_phdr_info* image, size_t, void* subs) {
            *static_cast<uint64_t*>(subs) = image->dlpi_subs;
            return 1;
        },
        &count);
    return count;
}

void modules_will_change() { due.store(1, std::memory_order_relaxed); }

void scan_modules_if_due(const Guard& guard) {
    if (!due.load(std::memory_order_relaxed))
        return;
    bool changed = false;
    dl_iterate_phdr(read_counters, &changed);
    if (changed)
        scan_modules(guard);
}

void rewrite_modules(const Guard& guard) {
    scanning.store(0, std::memory_order_relaxed);
    due.store(0, std::memory_order_relaxed);
    module_ids = 0;
    for (uint32_t i = 0; i < module_count; ++i) {
        modules[i].id = 0;
        modules[i].path = 0;
    }
    write_new(guard, now_ns());
}

} // namespace plumb::shim
