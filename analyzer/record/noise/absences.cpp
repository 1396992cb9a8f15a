#include "record/noise/absences.h"

#include "platform/read_file.h"

#include <algorithm>
#include <ctime>

namespace plumb::record {

namespace {

constexpr size_t kSwitchPages = 64; // 8,192 switches of a thread: some seconds of a very busy CPU
constexpr uint32_t kSmallPageBytes = 4096;
constexpr size_t kMostNamedThreads = 10'000;

perf_event_attr switch_event(bool of_cpu) {
    perf_event_attr event{};
    event.size = sizeof event;
    event.type = PERF_TYPE_SOFTWARE;
    event.config = PERF_COUNT_SW_DUMMY;
    event.sample_type = kSampleFields;
    event.sample_id_all = 1;
    event.context_switch = 1;
    event.exclude_kernel = of_cpu ? 0 : 1; // records of switches come all the same
    event.comm = event.task = of_cpu ? 1 : 0; // threads that ended before their name could be read
    event.watermark = 1;
    event.wakeup_watermark = kSwitchPages * kSmallPageBytes / 2;
    event.use_clockid = 1;
    event.clockid = CLOCK_MONOTONIC;
    return event;
}

} // namespace

uint32_t NameTable::number_of(const std::string& name) {
    const auto known = numbers_.find(name);
    if (known != numbers_.end())
        return known->second;
    if (names_.size() >= kMost)
        return 0;
    names_.push_back(name);
    return numbers_[name] = static_cast<uint32_t>(names_.size() - 1);
}

void AbsenceBuilder::left(uint32_t tid, uint64_t time_ns) {
    if (tid != tid_)
        return;
    is_off_ = true;
    absence_ = {.begin_ns = time_ns, .end_ns = time_ns, .parts = {{.begin_ns = time_ns, .end_ns = time_ns}}};
}

void AbsenceBuilder::came(uint32_t tid, uint32_t pid, uint64_t time_ns) {
    if (!is_off_)
        return;
    absence_.parts.back().end_ns = std::max(time_ns, absence_.parts.back().begin_ns);
    if (tid != tid_) {
        if (absence_.parts.back().tid == 0 && absence_.parts.size() == 1)
            absence_.parts.back() = {tid, pid, absence_.begin_ns, time_ns}; // with the switch itself
        else
            absence_.parts.push_back({tid, pid, absence_.parts.back().end_ns, time_ns});
        return;
    }
    absence_.end_ns = absence_.parts.back().end_ns;
    is_off_ = false;
    done_.push_back(std::move(absence_));
}

AbsenceWatch::AbsenceWatch(int cpu, uint32_t tid) : builder_(tid) {
    perf_event_attr event = switch_event(true);
    error_ = ring_.open(event, -1, cpu, kSwitchPages);
    knows_names_ = error_ == 0;
    if (!knows_names_) {
        event = switch_event(false);
        error_ = ring_.open(event, static_cast<int>(tid), -1, kSwitchPages);
    }
    fields_ = event.sample_type;
}

uint32_t AbsenceWatch::name_of(uint32_t tid, NameTable& names, const std::string& proc_root) {
    if (tid == 0)
        return 0;
    const auto [known, is_new] = names_.try_emplace(tid, 0);
    if (is_new)
        if (const auto text = platform::read_file(proc_root + "/" + std::to_string(tid) + "/comm"))
            known->second = names.number_of(text->substr(0, text->find('\n')));
    return known->second;
}

std::vector<Absence> AbsenceWatch::read(NameTable& names, const std::string& proc_root) {
    if (!works())
        return {};
    ring_.drain([&](const perf_event_header& header) {
        const auto record = decode(header, fields_, 0);
        if (!record)
            return;
        switch (record->kind) {
        case PerfKind::switched:
            if (record->leaves)
                builder_.left(record->tid, record->time_ns);
            else
                builder_.came(record->tid, record->pid, record->time_ns);
            break;
        case PerfKind::comm:
        case PerfKind::exec:
            names_[record->tid] = names.number_of(std::string(record->text));
            break;
        case PerfKind::fork:
            names_[record->tid] = name_of(record->parent_tid, names, proc_root);
            break;
        case PerfKind::lost:
            lost_ += record->lost;
            builder_.lost();
            break;
        default:
            break;
        }
    });
    std::vector<Absence> absences = builder_.take();
    for (Absence& absence : absences)
        for (Absence::Part& part : absence.parts)
            part.name = name_of(part.tid, names, proc_root);
    if (names_.size() > kMostNamedThreads) // numbers are used again
        names_.clear();
    return absences;
}

} // namespace plumb::record
