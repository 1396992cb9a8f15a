#include "record/watch/threads/active_threads.h"

#include <algorithm>
#include <iterator>

namespace plumb::record {

void ActiveThreads::advance(Image& image, uint64_t time_ns) {
    if (image.since_ns == 0) {
        image.counts.first_ns = time_ns;
    } else {
        const size_t bin = std::min(image.active, std::size(image.counts.active_ns) - 1);
        image.counts.active_ns[bin] += time_ns - std::min(time_ns, image.since_ns);
    }
    image.since_ns = image.counts.last_ns = std::max(time_ns, uint64_t{1});
    image.changed = true;
}

void ActiveThreads::set(uint32_t tid, uint32_t pid, bool active, uint64_t time_ns) {
    const auto [found, is_new] = threads_.try_emplace(tid, Thread{pid, false});
    Thread& thread = found->second;
    if (thread.pid != pid) { // its number was given out again
        if (const auto image = images_.find(thread.pid); thread.active && image != images_.end()) {
            advance(image->second, time_ns);
            --image->second.active;
        }
        thread = {pid, false};
    }
    if (thread.active == active)
        return;
    Image& image = images_[pid];
    advance(image, time_ns);
    if (active)
        ++image.active;
    else
        --image.active;
    thread.active = active;
}

void ActiveThreads::remove(uint32_t tid, uint64_t time_ns) {
    const auto thread = threads_.find(tid);
    if (thread == threads_.end())
        return;
    set(tid, thread->second.pid, false, time_ns);
    threads_.erase(tid);
}

void ActiveThreads::end_image(uint32_t pid, uint64_t time_ns) {
    std::erase_if(threads_, [&](const auto& entry) { return entry.second.pid == pid; });
    const auto image = images_.find(pid);
    if (image == images_.end())
        return;
    advance(image->second, time_ns);
    write(pid, image->second);
    images_.erase(image);
}

void ActiveThreads::take(const PerfRecord& record) {
    if (stopped_)
        return;
    switch (record.kind) {
    case PerfKind::fork: // made, and waits for a CPU
        set(record.tid, record.pid, true, record.time_ns);
        break;
    case PerfKind::exec: // a new image, of one thread that runs
        end_image(record.pid, record.time_ns);
        set(record.tid, record.pid, true, record.time_ns);
        break;
    case PerfKind::switched:
        if (record.tid != 0)
            set(record.tid, record.pid, !record.leaves || record.preempted, record.time_ns);
        break;
    case PerfKind::exit:
        remove(record.tid, record.time_ns);
        if (const auto image = images_.find(record.pid);
            record.tid == record.pid && image != images_.end() && image->second.active == 0)
            end_image(record.pid, record.time_ns);
        break;
    default:
        break;
    }
}

bool ActiveThreads::is_alone(uint32_t pid, uint32_t tid) const {
    const auto thread = threads_.find(tid);
    const auto image = images_.find(pid);
    return thread != threads_.end() && thread->second.active && thread->second.pid == pid && image != images_.end() &&
           image->second.active == 1;
}

void ActiveThreads::write(uint32_t pid, Image& image) {
    if (!image.changed)
        return;
    image.changed = false;
    if (!image.record) {
        trace::ThreadsActive begin{};
        begin.pid = pid;
        begin.first_ns = image.counts.first_ns;
        image.record = file_.append(trace::RecordType::ThreadsActive, pid, begin);
        if (!image.record)
            return;
    }
    update(image.record->last_ns, image.counts.last_ns);
    for (size_t bin = 0; bin < std::size(image.counts.active_ns); ++bin)
        update(image.record->active_ns[bin], image.counts.active_ns[bin]);
}

void ActiveThreads::write() {
    for (auto& [pid, image] : images_)
        write(pid, image);
}

void ActiveThreads::stop() {
    write();
    stopped_ = true;
    threads_.clear();
    images_.clear();
}

} // namespace plumb::record
