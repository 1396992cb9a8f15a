#include "record/access/sharing/line_sharing.h"

#include <algorithm>
#include <set>

namespace plumb::record {

namespace {

constexpr size_t kMostLines = 1 << 13, kMostLinesOfAll = 1 << 15, kMostPages = 1 << 12;
constexpr size_t kMostUses = 64, kUsesByPath = 32, kMostThreads = 4096;
constexpr size_t kMostCandidates = 1 << 12, kMostWritten = 256, kMostUsesWritten = 16;
constexpr uint64_t kPage = 4096;
constexpr uint64_t kClose = 13;  // quarters of the time between samples
constexpr uint64_t kInterval = 5; // the same, of a thread that runs
constexpr uint64_t kRecent = 16; // times that time
constexpr unsigned kSlices = 64; // of the run's time, and of a word
constexpr uint64_t kShortestSlice = 4; // times the time between samples
constexpr uint64_t kFewestHandovers = 2;
constexpr uint64_t kTiming_ns = 2'500'000; // of CPU time: of one kind of access
constexpr uint64_t kLeastTiming_ns = 4 * kTiming_ns, kMostTiming_ns = 100'000'000;

// Bits 0 and 1 become bit 0, and so on: slices twice as long.
uint64_t folded(uint64_t slices) {
    uint64_t half = 0;
    for (unsigned i = 0; i < kSlices / 2; ++i)
        half |= static_cast<uint64_t>((slices >> 2 * i & 3) != 0) << i;
    return half;
}

} // namespace

uint64_t LineSharing::bytes_of(uint64_t address, uint16_t width) const {
    const uint64_t grain = std::max<uint64_t>(line_bytes_ / 64, 1), from = address % line_bytes_;
    const uint64_t first = from / grain;
    const uint64_t last = (std::min<uint64_t>(from + std::max<uint16_t>(width, 1), line_bytes_) - 1) / grain;
    const uint64_t up_to_last = last >= 63 ? UINT64_MAX : (uint64_t{1} << (last + 1)) - 1;
    return up_to_last & ~((uint64_t{1} << first) - 1);
}

LineSharing::Part LineSharing::Line::part_of(uint32_t tid, uint64_t bytes) const {
    Part part;
    for (const Use& use : uses) {
        if (use.tid != tid)
            continue;
        const bool writes = use.flags & trace::kAlignStore;
        part.all += use.visits;
        part.writes |= writes;
        if (use.bytes & bytes) {
            part.there += use.visits;
            part.writes_there |= writes;
        }
    }
    return part;
}

// By call path, too, as long as there is room: of a lock, say, the lines that take it.
LineSharing::Use* LineSharing::use_for(Line& line, const SampledAccess& access, const Place& place, uint16_t offset,
                                       trace::NodeId path) {
    Use* same_code = nullptr;
    for (Use& use : line.uses)
        if (use.tid == access.tid && use.instruction == place.instruction && use.offset == offset &&
            use.width == place.width) {
            if (use.path == path)
                return &use;
            same_code = &use;
        }
    if (line.uses.size() >= kMostUses || (same_code && line.uses.size() >= kUsesByPath))
        return same_code;
    Use& use = line.uses.emplace_back();
    use.instruction = place.instruction;
    use.tid = access.tid;
    use.bytes = bytes_of(place.address, place.width);
    use.path = path;
    use.offset = offset;
    use.width = place.width;
    use.length = place.length;
    use.code = place.code;
    use.first_ns = use.last_ns = access.time_ns;
    use.flags = place.flags;
    use.base_value = place.base_value;
    return &use;
}

// First lines that nobody shares, then those with least time.
void LineSharing::make_room(Traced& process) {
    const size_t before = process.lines.size();
    std::erase_if(process.lines, [](const auto& each) { return each.second.same + each.second.other == 0; });
    if (process.lines.size() > kMostLines / 2) {
        uint64_t time_ns = 0;
        for (const auto& [address, line] : process.lines)
            time_ns += line.time_ns;
        const uint64_t mean_ns = time_ns / process.lines.size();
        std::erase_if(process.lines, [mean_ns](const auto& each) { return each.second.time_ns <= mean_ns; });
    }
    lines_ -= before - process.lines.size();
}

LineSharing::Line* LineSharing::line_at(Traced& process, uint64_t address) {
    const auto known = process.lines.find(address);
    if (known != process.lines.end())
        return &known->second;
    if (process.lines.size() >= kMostLines)
        make_room(process);
    if (lines_ >= kMostLinesOfAll)
        return nullptr;
    ++lines_;
    return &process.lines[address];
}

// A thread that runs is sampled at regular intervals: whoever was not has lost its CPU, or sleeps.
bool LineSharing::runs_beside(const Traced& process, const SampledAccess& access, uint32_t tid) {
    const auto known = process.threads.find(tid);
    return known != process.threads.end() && known->second.cpu != access.cpu &&
           access.time_ns - known->second.last_ns <= access.weight_ns * kInterval / 4;
}

bool LineSharing::is_opposed(const Traced& process, const SampledAccess& access, const Line& line) {
    uint32_t asked = access.tid;
    for (const Use& use : line.uses)
        if (use.tid != access.tid && use.tid != asked) {
            asked = use.tid;
            if (runs_beside(process, access, asked))
                return true;
        }
    return false;
}

bool LineSharing::is_contended(const Traced& process, uint64_t address) const {
    const auto known = process.lines.find(address & ~uint64_t{line_bytes_ - 1});
    return known != process.lines.end() && known->second.same + known->second.other >= kFewestHandovers;
}

uint64_t* LineSharing::slices_now(Traced& process, Line& line, bool same, uint64_t time_ns, unsigned& bit) {
    const uint64_t passed_ns = time_ns - std::min(time_ns, process.origin_ns);
    while (passed_ns / process.slice_ns >= kSlices)
        process.slice_ns *= 2;
    for (; line.slice_ns < process.slice_ns; line.slice_ns *= 2) {
        line.same_slices = folded(line.same_slices);
        line.other_slices = folded(line.other_slices);
    }
    bit = static_cast<unsigned>(passed_ns / process.slice_ns);
    return same ? &line.same_slices : &line.other_slices;
}

void LineSharing::touch(Traced& process, const SampledAccess& access, const Place& place, trace::NodeId path,
                        uint64_t weight_ns) {
    const uint64_t close_ns = access.weight_ns * kClose / 4, recent_ns = access.weight_ns * kRecent;
    const Visit now{access.tid, access.cpu, access.time_ns, bytes_of(place.address, place.width), place.writes()};
    const auto hands_over = [&](const Visit& last) { return last.tid != now.tid && last.cpu != now.cpu; };
    const auto is_close = [&](const Visit& last) { return last.tid != 0 && now.time_ns - last.time_ns <= close_ns; };

    if (process.pages.size() >= kMostPages && !process.pages.contains(place.address / kPage))
        process.pages.clear();
    Neighbourhood& page = process.pages[place.address / kPage];
    if (is_close(page.last) && hands_over(page.last))
        page.last_handover_ns = now.time_ns;
    page.last = now;
    const bool is_crowded = page.last_handover_ns != 0 && now.time_ns - page.last_handover_ns <= close_ns;

    Line* line = line_at(process, place.address & ~uint64_t{line_bytes_ - 1});
    if (!line)
        return;
    if (line->first_ns == 0) {
        line->first_ns = now.time_ns;
        line->slice_ns = process.slice_ns;
    }
    Use* use = use_for(*line, access, place, static_cast<uint16_t>(place.address % line_bytes_), path);
    if (use) {
        ++use->visits;
        use->flags |= place.flags;
    }
    if (line->last.tid != 0 && line->last.time_ns != now.time_ns) {
        const bool close = is_close(line->last);
        ++line->pairs;
        line->close_pairs += close;
        if (hands_over(line->last)) {
            ++line->handovers;
            line->close_handovers += close;
            // What a thread does there seldom (to add up what others counted, say) is not what they fight for.
            const Part theirs = line->part_of(line->last.tid, now.bytes), own = line->part_of(now.tid, line->last.bytes);
            const bool same = (theirs.matters() && (now.writes || theirs.writes_there)) ||
                              (own.matters() && (line->last.writes || own.writes_there));
            const bool other = !same && (now.writes || line->last.writes ||
                                         (theirs.writes && !theirs.matters()) || (own.writes && !own.matters()));
            // Who comes to the same bytes much later has been given them; other bytes belong to others all the time.
            if (((same && close) || (other && (close || is_crowded))) &&
                runs_beside(process, access, line->last.tid)) {
                (same ? line->same : line->other) += 1;
                if (use)
                    (same ? use->same : use->other) += 1;
                unsigned bit = 0;
                uint64_t* slices = slices_now(process, *line, same, now.time_ns, bit);
                *slices |= uint64_t{1} << bit;
                line->last_handover_ns = now.time_ns;
                ++cpu_pairs_[std::minmax(line->last.cpu, now.cpu)];
            }
        }
    }
    line->last = now;
    if (weight_ns == 0)
        return;
    ++line->samples;
    line->time_ns += weight_ns;
    if (!use)
        return;
    ++use->samples;
    use->time_ns += weight_ns;
    use->base_value = place.base_value;
    use->last_ns = now.time_ns;
    const uint64_t shared_ns = std::max(line->last_handover_ns, page.last_handover_ns);
    if (place.polls)
        use->polled_ns += weight_ns;
    else if (shared_ns != 0 && now.time_ns - shared_ns <= recent_ns && is_opposed(process, access, *line))
        use->shared_ns += weight_ns;
}

void LineSharing::take(const SampledAccess& access, trace::NodeId path) {
    total_ns_ += access.weight_ns;
    Traced& process = processes_[access.pid];
    if (process.generation != access.generation) {
        judge(access.pid, process);
        process = Traced{};
        process.generation = access.generation;
    }
    if (process.first_tid == 0)
        process.first_tid = access.tid;
    if (!process.threaded) {
        if (process.first_tid == access.tid)
            return;
        process.threaded = true;
        process.origin_ns = access.time_ns;
        process.slice_ns = std::max<uint64_t>(access.weight_ns * kShortestSlice, 1);
    }
    Place place{access.instruction, access.address, access.base_value, access.width, access.flags, access.length,
                access.polls, access.code};
    if (access.updates)
        place.flags |= trace::kAlignStore;
    if (!access.store) {
        touch(process, access, place, path, access.weight_ns);
        return;
    }
    // The load before it, or the store that finds no room: which of both was waited for is known only if one of them is
    // to a line that threads fight for.
    const StoreAhead& ahead = *access.store;
    const Place store{access.sampled, ahead.address, ahead.base_value, ahead.width, ahead.flags, ahead.length, false,
                      ahead.code};
    if (ahead.address == access.address) {
        place.flags |= ahead.flags;
        place.polls = false;
        touch(process, access, place, path, access.weight_ns);
        return;
    }
    const bool by_store = is_contended(process, ahead.address) && !is_contended(process, access.address);
    touch(process, access, place, path, by_store ? 0 : access.weight_ns);
    touch(process, access, store, path, by_store ? access.weight_ns : 0);
}

void LineSharing::count(uint32_t pid, uint32_t tid, int cpu, uint64_t time_ns, uint64_t weight_ns) {
    const auto known = processes_.find(pid);
    if (known == processes_.end() || !known->second.threaded)
        return;
    if (known->second.threads.size() >= kMostThreads && !known->second.threads.contains(tid))
        known->second.threads.clear(); // most of them are gone
    Activity& thread = known->second.threads[tid];
    thread.sampled_ns += weight_ns;
    thread.last_ns = time_ns;
    thread.cpu = cpu;
}

void LineSharing::judge(uint32_t pid, Traced& process) {
    std::vector<Candidate> found;
    for (auto& [address, line] : process.lines) {
        if (line.same + line.other < kFewestHandovers)
            continue;
        unsigned bit = 0;
        slices_now(process, line, true, process.origin_ns, bit); // all lines with slices of one length
        uint64_t thread_ns = 0;
        std::set<uint32_t> threads;
        for (const Use& use : line.uses)
            if (threads.insert(use.tid).second)
                thread_ns += process.threads[use.tid].sampled_ns;
        found.push_back({pid, address, std::move(line), thread_ns});
    }
    lines_ -= process.lines.size();
    process.lines.clear();
    std::ranges::stable_sort(found, std::greater{}, [](const Candidate& each) { return each.line.time_ns; });
    for (Candidate& each : found) {
        if (candidates_.size() >= kMostCandidates || &each - found.data() >= static_cast<ptrdiff_t>(kMostWritten))
            break;
        candidates_.push_back(std::move(each));
    }
}

void LineSharing::forget(uint32_t pid) {
    const auto known = processes_.find(pid);
    if (known == processes_.end())
        return;
    judge(pid, known->second);
    processes_.erase(known);
}

void LineSharing::write_line(NodeTraceWriter& file, const Candidate& candidate) const {
    const Line& line = candidate.line;
    trace::SharedLine record{};
    record.pid = candidate.pid;
    record.line_bytes = line_bytes_;
    record.address = candidate.address;
    record.samples = line.samples;
    record.time_ns = line.time_ns;
    record.pairs = line.pairs;
    record.handovers = line.handovers;
    record.close_pairs = line.close_pairs;
    record.close_handovers = line.close_handovers;
    record.same_handovers = line.same;
    record.other_handovers = line.other;
    record.same_slices = line.same_slices;
    record.other_slices = line.other_slices;
    record.slice_ns = line.slice_ns;
    std::set<uint32_t> threads;
    for (const Use& use : line.uses)
        threads.insert(use.tid);
    record.threads = static_cast<uint32_t>(threads.size());
    record.first_ns = line.first_ns;
    if (!file.append(trace::RecordType::SharedLine, 0, record))
        return;
    std::vector<const Use*> uses;
    for (const Use& use : line.uses)
        uses.push_back(&use);
    std::ranges::stable_sort(uses, std::greater{}, &Use::time_ns);
    if (uses.size() > kMostUsesWritten)
        uses.resize(kMostUsesWritten);
    for (const Use* use : uses) {
        trace::LineUse of{};
        of.pid = candidate.pid;
        of.path = use->path;
        of.line = candidate.address;
        of.instruction = use->instruction;
        of.offset = use->offset;
        of.width = use->width;
        of.flags = use->flags;
        of.code_bytes = use->length;
        std::ranges::copy(use->code, of.code);
        of.base_value = use->base_value;
        of.samples = use->samples;
        of.time_ns = use->time_ns;
        of.shared_ns = use->shared_ns;
        of.polled_ns = use->polled_ns;
        of.same_handovers = use->same;
        of.other_handovers = use->other;
        of.first_ns = use->first_ns;
        of.last_ns = use->last_ns;
        file.append(trace::RecordType::LineUse, use->tid, of);
    }
}

// What the line does that costs most, and how much of their time its threads spend on all such lines of the process.
LineAccesses LineSharing::what_to_time() const {
    const auto shared_ns = [](const Candidate& each) {
        uint64_t sum = 0;
        for (const Use& use : each.line.uses)
            sum += use.shared_ns;
        return sum;
    };
    const Candidate& heaviest = *std::ranges::max_element(candidates_, {}, shared_ns);
    LineAccesses accesses;
    uint64_t all_ns = 0;
    for (const Candidate& each : candidates_) {
        all_ns += each.pid == heaviest.pid ? each.line.time_ns : 0;
        for (const Use& use : each.line.uses)
            accesses.add(use.flags);
    }
    if (heaviest.thread_ns > 0)
        accesses.share = std::min(1.0, static_cast<double>(all_ns) / static_cast<double>(heaviest.thread_ns));
    std::map<uint32_t, std::set<uint16_t>> words;
    for (const Use& use : heaviest.line.uses)
        words[use.tid].insert(use.offset);
    for (const auto& [tid, offsets] : words)
        accesses.words = std::max(accesses.words, static_cast<unsigned>(offsets.size()));
    return accesses;
}

void LineSharing::write(NodeTraceWriter& file, Calibration& calibration) {
    for (auto& [pid, process] : processes_)
        judge(pid, process);
    processes_.clear();
    uint64_t shared_ns = 0;
    for (const Candidate& each : candidates_)
        for (const Use& use : each.line.uses)
            shared_ns += use.shared_ns;
    if (shared_ns * 100 >= total_ns_ && shared_ns > 0 && !cpu_pairs_.empty()) {
        for (const Candidate& each : candidates_)
            write_line(file, each);
        const auto most = std::ranges::max_element(cpu_pairs_, {}, &decltype(cpu_pairs_)::value_type::second);
        const int cpu = most->first.first, other_cpu = most->first.second;
        uint64_t allowed_ns = std::clamp(calibration.left_ns(), kLeastTiming_ns, kMostTiming_ns);
        const TimeLineTask measure = [&](const LineTask& task) {
            if (allowed_ns < kTiming_ns)
                return LineTimes{};
            const uint64_t begin_ns = own_cpu_ns();
            const LineTimes times = calibration.spend([&] { return time_line_task(cpu, other_cpu, task, allowed_ns); });
            allowed_ns -= std::min(allowed_ns, own_cpu_ns() - begin_ns);
            return times;
        };
        file.append(trace::RecordType::LineTransfer, 0,
                    known_line_transfers(calibration.cache(), cpu, other_cpu, what_to_time(), monotonic_ns(), measure));
    }
    candidates_.clear();
}

} // namespace plumb::record
