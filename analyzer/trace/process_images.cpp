#include "trace/process_images.h"

#include <algorithm>

namespace plumb::trace {

namespace {

std::string file_name_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// What the shim said wins where both know: it asked from inside.
void merge_into(model::Process& seen, model::Process&& started) {
    started.start_ns = seen.start_ns != 0 ? std::min(seen.start_ns, started.start_ns) : started.start_ns;
    if (started.parent_pid == 0)
        started.parent_pid = seen.parent_pid;
    if (started.executable.empty())
        started.executable = std::move(seen.executable);
    if (started.arguments.empty())
        started.arguments = std::move(seen.arguments);
    started.name = std::move(seen.name);
    started.is_static = seen.is_static;
    started.is_foreign = seen.is_foreign;
    started.is_privileged = seen.is_privileged;
    started.is_dormant = seen.is_dormant;
    seen = std::move(started);
}

// What the shim and the recorder both know of a process.
template <class Record>
void describe(model::Process& process, const Record& record, uint64_t begin_ns, const FileContext& context) {
    process.pid = record.pid;
    process.parent_pid = record.parent_pid;
    process.start_ns = begin_ns;
    process.executable = context.text(record.executable);
    process.arguments = context.arguments(record.command_line);
}

} // namespace

void ProcessImages::seen(const ProcessSeen& record, const FileContext& context) {
    Image image{.begin_ns = context.time(record.time_ns), .by_exec = (record.flags & kSeenExec) != 0, .process = {}};
    model::Process& process = image.process;
    describe(process, record, image.begin_ns, context);
    process.name = context.text(record.name);
    process.is_static = (record.flags & kSeenStatic) != 0;
    process.is_foreign = (record.flags & kSeenForeign) != 0;
    process.is_privileged = (record.flags & kSeenPrivileged) != 0;
    process.is_dormant = (record.flags & kSeenDormant) != 0;
    image.key = {context.host(), context.pid_namespace(), record.pid};
    image.parent = {context.host(), context.pid_namespace(), record.parent_pid};
    if (record.pid_namespace != 0 && record.inner_pid != 0)
        image.inner = {context.host(), record.pid_namespace, record.inner_pid};
    seen_[image.key].push_back(std::move(image));
}

void ProcessImages::started(const ProcessStart& record, const FileContext& context, size_t file, bool file_closed) {
    Image image{.begin_ns = context.time(record.time_ns),
                .by_exec = (record.flags & kStartForked) == 0,
                .from_shim = true,
                .file = file,
                .process = {}};
    model::Process& process = image.process;
    describe(process, record, image.begin_ns, context);
    process.rank = record.rank;
    process.rank_count = record.rank_count;
    process.local_rank = record.local_rank;
    process.has_shim = true;
    process.shim_closed = file_closed;
    image.key = {context.host(), context.pid_namespace(), record.pid};
    image.parent = {context.host(), context.pid_namespace(), record.parent_pid};
    started_[image.key].push_back(std::move(image));
}

// Both lists are of one pid. The recorder takes its times from the kernel, so an image begins for it a little before
// the shim inside says so; where it had to look into /proc instead, it can be late.
std::vector<ProcessImages::Image> ProcessImages::merge(std::vector<Image> seen, std::vector<Image> started) {
    const auto by_time = [](const Image& a, const Image& b) { return a.begin_ns < b.begin_ns; };
    std::stable_sort(seen.begin(), seen.end(), by_time);
    std::stable_sort(started.begin(), started.end(), by_time);
    std::vector<Image> merged;
    size_t next = 0;   // first of `seen` that is not merged yet
    size_t behind = 0; // first of `seen` that begins after the shim's image
    for (size_t i = 0; i < started.size(); ++i) {
        Image& image = started[i];
        const uint64_t until = i + 1 < started.size() ? started[i + 1].begin_ns : UINT64_MAX;
        while (behind < seen.size() && seen[behind].begin_ns <= image.begin_ns)
            ++behind;
        const auto free = [&](size_t at) { return at >= next && at < seen.size() && seen[at].begin_ns < until; };
        size_t match = seen.size();
        if (behind > next)
            match = behind - 1;
        else if (free(next))
            match = next;
        if (match < seen.size() && image.by_exec && !seen[match].by_exec && free(match + 1) && seen[match + 1].by_exec)
            ++match; // that was the fork before the exec
        for (; next < match && next < seen.size(); ++next)
            merged.push_back(std::move(seen[next]));
        if (match < seen.size()) {
            image.begin_ns = std::min(image.begin_ns, seen[match].begin_ns);
            image.key = seen[match].key;
            if (image.parent.pid == 0) // it is outside of the process's namespace
                image.parent = seen[match].parent;
            merge_into(seen[match].process, std::move(image.process));
            image.process = std::move(seen[match].process);
            next = match + 1;
        }
        merged.push_back(std::move(image));
    }
    for (; next < seen.size(); ++next)
        merged.push_back(std::move(seen[next]));
    for (size_t i = 0; i + 1 < merged.size(); ++i)
        merged[i].interlude = !merged[i].from_shim && !merged[i].by_exec && merged[i + 1].by_exec;
    return merged;
}

// Of one pid, by time: an image that was gone before anybody could look at it is of the process that it was forked as.
void ProcessImages::settle_inner(std::vector<Image>& seen) {
    std::stable_sort(seen.begin(), seen.end(), [](const Image& a, const Image& b) { return a.begin_ns < b.begin_ns; });
    for (size_t begin = 0, end = 0; begin < seen.size(); begin = end) {
        Key inner;
        for (end = begin; end < seen.size() && (end == begin || seen[end].by_exec); ++end)
            inner = seen[end].inner.pid != 0 ? seen[end].inner : inner;
        for (size_t i = begin; i < end; ++i)
            seen[i].inner = inner;
    }
}

void ProcessImages::enter(const Key& key, uint64_t begin_ns, uint32_t process, std::vector<model::Process>& processes) {
    auto& images = settled_[key];
    if (!images.empty()) { // this one took the place of the one before
        model::Process& before = processes[images.back().second];
        before.end_ns = std::max(before.start_ns, begin_ns);
    }
    images.emplace_back(begin_ns, process);
}

void ProcessImages::settle(std::vector<model::Process>& processes, const std::vector<model::Host>& hosts) {
    std::map<Key, std::vector<Image>> by_inner;
    for (auto& [key, images] : seen_) {
        settle_inner(images);
        for (Image& image : images)
            by_inner[image.inner.pid != 0 ? image.inner : key].push_back(std::move(image));
    }
    for (auto& [key, images] : started_)
        by_inner[key]; // pids that only the shim recorded
    std::vector<std::pair<Key, Image>> all;
    for (auto& [key, images] : by_inner) {
        const auto started = started_.find(key);
        for (Image& image : merge(std::move(images), started == started_.end() ? std::vector<Image>()
                                                                             : std::move(started->second)))
            all.emplace_back(key, std::move(image));
    }
    seen_.clear();
    started_.clear();
    std::stable_sort(all.begin(), all.end(),
                     [](const auto& a, const auto& b) { return a.second.begin_ns < b.second.begin_ns; });
    for (auto& [key, image] : all) {
        const auto process = static_cast<uint32_t>(processes.size());
        enter(key, image.begin_ns, process, processes);
        if (image.key != key)
            enter(image.key, image.begin_ns, process, processes);
        if (image.from_shim)
            process_of_file_.emplace(image.file, process);
        interlude_.push_back(image.interlude);
        by_exec_.push_back(image.by_exec);
        parent_.push_back(image.parent);
        image.process.pid_namespace = key.pid_namespace;
        image.process.host = hosts[key.host].name;
        if (image.process.name.empty())
            image.process.name = file_name_of(image.process.executable);
        processes.push_back(std::move(image.process));
    }
}

uint32_t ProcessImages::find(const Key& key, uint64_t time_ns) const {
    const auto found = settled_.find(key);
    if (found == settled_.end())
        return kNone;
    const auto& images = found->second;
    auto after = std::upper_bound(images.begin(), images.end(), time_ns,
                                  [](uint64_t time, const auto& image) { return time < image.first; });
    return after == images.begin() ? after->second : std::prev(after)->second;
}

uint32_t ProcessImages::process_of(size_t file) const {
    const auto found = process_of_file_.find(file);
    return found == process_of_file_.end() ? kNone : found->second;
}

} // namespace plumb::trace
