#include "record/perf/thread_rings.h"

#include "platform/task_stat.h"

#include <algorithm>
#include <cerrno>
#include <unistd.h>
#include <unordered_set>
#include <utility>

namespace plumb::record {

ThreadRings::ThreadRings(const perf_event_attr& attributes, size_t pages, const std::string& proc_root)
    : attributes_(attributes), pages_(pages), proc_root_(proc_root) {
    attributes_.inherit = 0;
    attributes_.watermark = 1;
    attributes_.wakeup_watermark = 1; // any record: a thread that begins is to be followed at once
}

int ThreadRings::begin(int pid) { return open(static_cast<uint32_t>(pid), true); }

int ThreadRings::open(uint32_t tid, bool from_exec) {
    const size_t page_bytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    int error = ENOMEM;
    for (size_t pages = pages_; pages >= 1 && error == ENOMEM; pages /= 2) {
        perf_event_attr event = attributes_;
        event.disabled = event.enable_on_exec = from_exec;
        if (event.sample_type & PERF_SAMPLE_STACK_USER)
            event.sample_stack_user =
                static_cast<uint32_t>(std::min<size_t>(event.sample_stack_user, pages * page_bytes / 4));
        PerfRing ring;
        error = ring.open(event, static_cast<int>(tid), -1, pages);
        if (error == 0 && ring.pages() < pages) // a smaller ring was granted: its samples must fit
            error = ENOMEM;
        if (error != 0)
            continue;
        places_[tid] = rings_.size();
        rings_.push_back(std::move(ring));
        tids_.push_back(tid);
        ++version_;
    }
    return error;
}

void ThreadRings::follow(uint32_t tid) {
    forget(tid); // a number that the kernel gave out again
    const int error = open(tid, false);
    if (error == 0)
        refused_.erase(tid);
    else if (error != ESRCH) // it is gone already
        refused_[tid] = error;
}

void ThreadRings::forget(uint32_t tid) {
    const auto found = places_.find(tid);
    if (found == places_.end())
        return;
    const size_t place = found->second;
    places_.erase(found);
    lost_ += rings_[place].lost();
    if (place + 1 != rings_.size()) {
        std::swap(rings_[place], rings_.back());
        tids_[place] = tids_.back();
        places_[tids_[place]] = place;
    }
    rings_.pop_back();
    tids_.pop_back();
    ++version_;
}

void ThreadRings::look(const std::vector<uint32_t>& pids) {
    std::unordered_set<uint32_t> living;
    for (const uint32_t pid : pids)
        for (const uint32_t tid : platform::list_threads(proc_root_, pid)) {
            living.insert(tid);
            if (!places_.contains(tid))
                follow(tid); // also those refused before: others may have ended
        }
    const std::vector<uint32_t> followed = tids_;
    for (const uint32_t tid : followed)
        if (!living.contains(tid))
            forget(tid);
}

uint64_t ThreadRings::lost() const {
    uint64_t lost = lost_;
    for (const PerfRing& ring : rings_)
        lost += ring.lost();
    return lost;
}

} // namespace plumb::record
