#include "record/noise/cpu_users.h"

#include "platform/task_stat.h"

#include <algorithm>
#include <fcntl.h>
#include <optional>
#include <unistd.h>
#include <utility>

namespace plumb::record {

namespace {

constexpr uint64_t kListEvery = 16; // rounds: threads of a process are looked for again

} // namespace

CpuUsers::CpuUsers(std::string proc_root, uint32_t own_pid, size_t most_files)
    : proc_root_(std::move(proc_root)), own_pid_(own_pid), most_files_(most_files) {}

CpuUsers::~CpuUsers() {
    for (const auto& [tid, thread] : threads_)
        if (thread.fd >= 0)
            close(thread.fd);
}

void CpuUsers::find_threads(uint32_t pid) {
    listed_[pid] = round_;
    for (const uint32_t tid : platform::list_threads(proc_root_, pid)) {
        Thread& thread = threads_[tid];
        if (thread.round == 0) {
            thread.pid = pid;
            if (files_ < most_files_) {
                const std::string path = proc_root_ + "/" + std::to_string(pid) + "/task/" + std::to_string(tid) + "/schedstat";
                thread.fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
                files_ += thread.fd >= 0;
            }
        }
        thread.round = round_;
    }
}

void CpuUsers::read(uint32_t tid, Thread& thread, std::vector<CpuUse>& uses) {
    std::optional<platform::TaskScheduling> now;
    if (thread.fd >= 0) {
        char text[96];
        const ssize_t got = pread(thread.fd, text, sizeof text, 0);
        if (got > 0)
            now = platform::parse_task_scheduling({text, static_cast<size_t>(got)});
    } else {
        now = platform::read_task_scheduling(proc_root_, thread.pid, tid);
    }
    if (!now) { // it ended, and what it did since the last look with it
        thread.round = 0;
        return;
    }
    thread.round = round_;
    const bool counts = !thread.is_new || round_ > 1; // what began since the last look did all of it since then
    if (counts && now->run_ns > thread.run_ns) {
        CpuUse use{.pid = thread.pid, .tid = tid, .cpu = -1, .run_ns = now->run_ns - thread.run_ns,
                   .slices = now->slices - std::min(now->slices, thread.slices), .name = ""};
        if (const auto stat = platform::read_task_stat(proc_root_, thread.pid, tid)) {
            use.cpu = stat->cpu;
            use.name = stat->name;
        }
        uses.push_back(std::move(use));
    }
    thread.run_ns = now->run_ns;
    thread.slices = now->slices;
    thread.is_new = false;
}

std::vector<CpuUse> CpuUsers::look() {
    ++round_;
    std::vector<CpuUse> uses;
    for (const uint32_t pid : platform::list_processes(proc_root_)) {
        if (pid == own_pid_)
            continue;
        const auto listed = listed_.find(pid);
        if (listed == listed_.end() || round_ - listed->second >= kListEvery)
            find_threads(pid);
    }
    for (auto& [tid, thread] : threads_)
        read(tid, thread, uses);
    std::erase_if(threads_, [this](const auto& entry) {
        if (entry.second.round != 0)
            return false;
        if (entry.second.fd >= 0) {
            close(entry.second.fd);
            --files_;
        }
        listed_.erase(entry.first);
        return true;
    });
    return uses;
}

} // namespace plumb::record
