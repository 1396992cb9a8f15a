#include "record/perf/process_table.h"

#include "platform/elf_image.h"
#include "platform/maps.h"
#include "platform/task_stat.h"

#include <algorithm>
#include <cstring>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <utility>

namespace plumb::record {

namespace {

constexpr std::string_view kDeleted = " (deleted)";

// What kind of mapping a name stands for; takes the mark of a deleted file off it.
uint32_t flags_of(std::string& path) {
    if (path == "[vdso]" || path == "[vsyscall]")
        return trace::kModuleVdso;
    uint32_t flags = 0;
    if (path.ends_with(kDeleted)) {
        path.resize(path.size() - kDeleted.size());
        flags = trace::kModuleDeleted;
    }
    if (path.empty() || path[0] != '/' || path.starts_with("//") || path.starts_with("/memfd:") ||
        path == "/dev/zero" || path.starts_with("/SYSV")) {
        path.clear();
        return trace::kModuleAnonymous;
    }
    return flags;
}

} // namespace

const MappedModule* Process::module_at(uint64_t address) const {
    auto after = modules.upper_bound(address);
    if (after == modules.begin())
        return nullptr;
    --after;
    return address < after->second.end ? &after->second : nullptr;
}

Process& ProcessTable::add(uint32_t pid, uint32_t parent_pid, uint64_t time_ns) {
    auto& slot = processes_[pid]; // a pid that the kernel gave out again replaces the one that ended
    slot = std::make_unique<Process>();
    slot->pid = pid;
    slot->parent_pid = parent_pid;
    slot->start_ns = time_ns;
    slot->generation = ++generations_;
    seen_.insert(pid);
    file_.raise_limit(most_bytes_each_);
    return *slot;
}

void ProcessTable::launch(uint32_t pid, uint32_t parent_pid, const std::string& command_line) {
    first_pid_ = pid;
    first_command_line_ = command_line;
    add(pid, parent_pid, monotonic_ns());
}

Process* ProcessTable::find(uint32_t pid) {
    const auto found = processes_.find(pid);
    return found == processes_.end() ? nullptr : found->second.get();
}

Process* ProcessTable::find_or_read(uint32_t pid) {
    if (Process* known = find(pid))
        return known;
    const auto stat = platform::read_task_stat("/proc", pid, pid);
    if (!stat)
        return nullptr;
    return &read(pid, *stat);
}

Process& ProcessTable::read(uint32_t pid, const platform::TaskStat& stat) {
    Process& process = add(pid, stat.parent_pid, monotonic_ns());
    process.name = stat.name;
    process.flags = trace::kSeenExec;
    read_maps(process);
    write_seen(process);
    return process;
}

void ProcessTable::discover(uint64_t now_ns, Whom whom) {
    std::map<uint32_t, uint64_t> strangers;
    std::unordered_set<uint32_t> present;
    for (const uint32_t pid : platform::list_processes("/proc")) {
        Process* known = find(pid);
        const auto before = strangers_.find(pid);
        const auto stat = platform::read_process_stat("/proc", pid);
        if (!stat)
            continue;
        if (before != strangers_.end() && before->second == stat->start_ticks) {
            strangers.insert(*before);
            continue;
        }
        if (stat->state != 'Z' || pid == first_pid_)
            present.insert(pid);
        if (known && known->seen_written && known->name == stat->name)
            continue;
        // A changed name: another program since (or the program renamed itself, which costs one record).
        if (known || whom == Whom::everybody || find(stat->parent_pid))
            read(pid, *stat);
        else
            strangers[pid] = stat->start_ticks;
    }
    strangers_ = std::move(strangers);
    for (const uint32_t pid : living())
        if (!present.contains(pid) && pid != first_pid_)
            gone(pid, now_ns, -1, 0, 0, 0);
}

void ProcessTable::read_maps(Process& process) {
    const std::string folder = "/proc/" + std::to_string(process.pid);
    char path[4096];
    const ssize_t length = readlink((folder + "/exe").c_str(), path, sizeof path);
    if (length > 0)
        process.executable.assign(path, length);
    for (const platform::Mapping& mapping : platform::read_executable_mappings("/proc", process.pid)) {
        MappedModule module;
        module.end = mapping.end;
        module.file_offset = mapping.file_offset;
        module.device = mapping.device;
        module.inode = mapping.inode;
        module.path = mapping.path;
        module.loaded_ns = process.start_ns;
        module.flags = flags_of(module.path);
        if (!module.path.empty() && module.path == process.executable)
            module.flags |= trace::kModuleMain;
        map(process, mapping.start, std::move(module));
    }
    classify(process);
}

void ProcessTable::begin_image(Process& process, uint64_t time_ns) {
    while (!process.modules.empty())
        unmap(process, process.modules.begin(), time_ns);
    process.start_ns = time_ns;
    process.executable.clear();
    process.flags = trace::kSeenExec;
    process.seen_written = process.modules_written = false;
    process.generation = ++generations_;
    process.leader_exited = false;
    process.threads = 1; // an exec ends all others
}

void ProcessTable::take(const PerfRecord& record) {
    if (record.kind == PerfKind::fork && record.pid != record.parent_pid) {
        Process& child = add(record.pid, record.parent_pid, record.time_ns);
        child.begun_in_view = true;
        if (const Process* parent = find(record.parent_pid)) {
            child.name = parent->name;
            child.executable = parent->executable;
            child.flags = parent->flags & ~trace::kSeenExec;
            child.modules = parent->modules;
            for (auto& [start, module] : child.modules)
                module.id = 0; // ids belong to one process
        }
        write_seen(child);
    } else if (record.kind == PerfKind::fork) {
        if (Process* process = find(record.pid))
            ++process->threads;
    } else if (record.kind == PerfKind::exec) {
        Process* process = find_or_read(record.pid);
        if (!process)
            process = &add(record.pid, 0, record.time_ns);
        begin_image(*process, record.time_ns);
        process->name = record.text;
    } else if (record.kind == PerfKind::comm && record.pid == record.tid) {
        if (Process* process = find(record.pid))
            process->name = record.text;
    } else if (record.kind == PerfKind::mapping) {
        Process* process = find(record.pid);
        if (!process)
            return; // all its mappings are read together when it is first sampled
        MappedModule module;
        module.end = record.start + record.length;
        module.file_offset = record.page_offset;
        module.device = record.device;
        module.inode = record.inode;
        module.loaded_ns = record.time_ns;
        module.path = record.text;
        module.flags = flags_of(module.path);
        module.build_id_size = record.build_id_size;
        std::memcpy(module.build_id, record.build_id, sizeof module.build_id);
        // The kernel maps the program first, then its loader.
        if (process->executable.empty() && !module.path.empty()) {
            process->executable = module.path;
            module.flags |= trace::kModuleMain;
            classify(*process);
        }
        map(*process, record.start, std::move(module));
        if (!process->seen_written && !process->executable.empty())
            write_seen(*process);
    } else if (record.kind == PerfKind::exit) {
        // The process goes with its last thread. The first one may end before others do: where a report of the others may
        // be missing, /proc has them.
        Process* process = find(record.pid);
        if (!process || record.pid == first_pid_)
            return; // the first process is waited for
        process->leader_exited |= record.pid == record.tid;
        process->threads -= process->threads > 0;
        const bool is_last = process->begun_in_view && process->threads == 0;
        if (is_last || (process->leader_exited && platform::list_threads("/proc", record.pid).size() <= 1))
            gone(record.pid, record.time_ns, -1, 0, 0, 0);
    }
}

void ProcessTable::classify(Process& process) {
    if (process.executable.empty())
        return;
    const auto known = kinds_.find(process.executable);
    if (known != kinds_.end()) {
        process.flags |= known->second;
        return;
    }
    // As the process itself sees it, if it has another root; else, or if it is gone, as we do.
    const std::string inside = "/proc/" + std::to_string(process.pid) + "/root" + process.executable;
    struct stat info {};
    const std::string& path = stat(inside.c_str(), &info) == 0 ? inside : process.executable;
    uint32_t kind = 0;
    std::string reason;
    if (const auto image = platform::read_elf_image(path)) {
        if (!image->has_interpreter) {
            kind |= trace::kSeenStatic;
            reason = " (statically linked)";
        }
        if (!image->is_native()) {
            kind |= trace::kSeenForeign;
            reason = " (another word size or architecture)";
        }
    }
    if (stat(path.c_str(), &info) == 0 && ((info.st_mode & (S_ISUID | S_ISGID)) ||
                                           getxattr(path.c_str(), "security.capability", nullptr, 0) > 0)) {
        kind |= trace::kSeenPrivileged;
        reason = " (runs with more privileges than its caller)";
    }
    kinds_[process.executable] = kind;
    process.flags |= kind;
    if (!reason.empty())
        blind_spots_.push_back(process.executable + reason);
}

// A container below this recorder: there the shim has other pids than the kernel gives to us. Of a process that is gone
// already nothing is known.
void ProcessTable::find_namespace(Process& process) const {
    if (process.inner_pid != 0 || pid_namespace_ == 0)
        return;
    const uint64_t its = platform::read_pid_namespace("/proc", std::to_string(process.pid));
    if (its == 0 || its == pid_namespace_)
        return;
    if (const auto status = platform::read_task_status("/proc", process.pid, process.pid); status && status->inner_id) {
        process.pid_namespace = its;
        process.inner_pid = status->inner_id;
    }
}

void ProcessTable::write_seen(Process& process) {
    find_namespace(process);
    trace::ProcessSeen record{};
    record.pid_namespace = process.pid_namespace;
    record.inner_pid = process.inner_pid;
    record.pid = process.pid;
    record.parent_pid = process.parent_pid;
    record.time_ns = process.start_ns;
    record.executable = file_.string(process.executable);
    record.name = file_.string(process.name);
    record.flags = process.flags;
    if ((process.flags & trace::kSeenExec) && !file_.redacts())
        record.command_line = file_.string(process.pid == first_pid_ && !first_command_line_.empty()
                                               ? first_command_line_
                                               : platform::read_command_line("/proc", process.pid));
    if (process.pid == first_pid_)
        first_command_line_.clear(); // a later exec has another one
    file_.append(trace::RecordType::ProcessSeen, 0, record);
    process.seen_written = true;
}

void ProcessTable::unmap(Process& process, std::map<uint64_t, MappedModule>::iterator module, uint64_t time_ns) {
    if (module->second.id) {
        trace::ModuleUnload record{};
        record.id = module->second.id;
        record.pid = process.pid;
        record.time_ns = time_ns;
        file_.append(trace::RecordType::ModuleUnload, 0, record);
    }
    process.modules.erase(module);
    ++process.modules_version;
}

void ProcessTable::map(Process& process, uint64_t start, MappedModule module) {
    const auto same = process.modules.find(start);
    if (same != process.modules.end() && same->second.end == module.end && same->second.path == module.path &&
        same->second.file_offset == module.file_offset)
        return; // its protection was changed to and fro, as compilers at run time do
    // What was mapped there before is gone, at least in part; the kernel does not report unmapping.
    auto old = process.modules.lower_bound(start);
    if (old != process.modules.begin() && std::prev(old)->second.end > start)
        --old;
    while (old != process.modules.end() && old->first < module.end) {
        const auto next = std::next(old);
        const uint64_t old_start = old->first;
        MappedModule left = old->second, right = old->second;
        unmap(process, old, module.loaded_ns);
        left.id = right.id = 0;
        left.loaded_ns = right.loaded_ns = module.loaded_ns;
        if (right.end > module.end) {
            right.file_offset += module.end - old_start;
            auto& place = process.modules[module.end] = right;
            if (process.modules_written)
                write_module(process, module.end, place);
        }
        if (old_start < start) {
            left.end = start;
            auto& place = process.modules[old_start] = left;
            if (process.modules_written)
                write_module(process, old_start, place);
        }
        old = next;
    }
    MappedModule& place = process.modules[start] = std::move(module);
    ++process.modules_version;
    if (process.modules_written)
        write_module(process, start, place);
}

void ProcessTable::write_modules(Process& process) {
    if (process.modules_written)
        return;
    process.modules_written = true;
    for (auto& [start, module] : process.modules)
        write_module(process, start, module);
}

void ProcessTable::write_module(Process& process, uint64_t start, MappedModule& module) {
    if (module.build_id_size == 0 && !module.path.empty())
        if (const auto image = platform::read_elf_image(module.path)) {
            module.build_id_size = std::min<size_t>(image->build_id.size(), sizeof module.build_id);
            std::copy_n(image->build_id.begin(), module.build_id_size, module.build_id);
        }
    trace::ModuleLoad record{};
    record.id = module.id = ++modules_;
    record.pid = process.pid;
    record.time_ns = module.loaded_ns;
    record.start = start;
    record.end = module.end;
    record.file_offset = module.file_offset;
    record.device = module.device;
    record.inode = module.inode;
    std::memcpy(record.build_id, module.build_id, sizeof record.build_id);
    record.build_id_size = module.build_id_size;
    record.path = file_.string(module.flags & trace::kModuleVdso ? "[vdso]" : module.path);
    record.flags = module.flags;
    file_.append(trace::RecordType::ModuleLoad, 0, record);
}

void ProcessTable::gone(uint32_t pid, uint64_t time_ns, int wait_status, uint64_t user_ns, uint64_t system_ns,
                        uint64_t max_rss_bytes) {
    // The first one of a short run that the kernel does not allow to sample: no record announced it.
    if (Process* process = find(pid); process && !process->seen_written)
        write_seen(*process);
    trace::ProcessGone record{};
    record.pid = pid;
    record.status = wait_status;
    record.time_ns = time_ns;
    record.user_ns = user_ns;
    record.system_ns = system_ns;
    record.max_rss_bytes = max_rss_bytes;
    file_.append(trace::RecordType::ProcessGone, 0, record);
    processes_.erase(pid);
    gone_.push_back(pid);
}

std::vector<uint32_t> ProcessTable::take_gone() { return std::exchange(gone_, {}); }

std::vector<uint32_t> ProcessTable::living() const {
    std::vector<uint32_t> pids;
    for (const auto& [pid, process] : processes_)
        pids.push_back(pid);
    std::sort(pids.begin(), pids.end());
    return pids;
}

} // namespace plumb::record
