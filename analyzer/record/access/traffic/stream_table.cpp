#include "record/access/traffic/stream_table.h"

#include "support/magnitude.h"

#include <algorithm>
#include <cmath>

namespace plumb::record {

namespace {

constexpr size_t kMostLoops = 512, kMostBursts = 1 << 14, kMostInstructions = 1 << 12, kMostPlaces = 256;
constexpr size_t kFewestPlaces = 8, kManyPlaces = 24; // to tell a footprint at all, and well
constexpr uint64_t kSmallGap = 64 << 10; // bytes
constexpr double kWideGap = 4;           // times the median and the logarithm of their number: the widest of random gaps is
                                         // about 1.4 of that
constexpr double kBeyondCaches = 1.25;          // of their size, between two uses of a line
constexpr double kGoesAlong = 0.5;              // of the loop's rounds: a stream with fewer comes around within one sweep
constexpr double kMostSampleCost = 0.3;         // of a period: more is a measurement that was disturbed
constexpr double kLeastPart = 0.2, kMostThreadsQuantile = 0.9;

bool is_beyond(uint64_t reuse_bytes, uint64_t cache_bytes) {
    return static_cast<double>(reuse_bytes) >= kBeyondCaches * static_cast<double>(cache_bytes);
}

uint32_t id_of(size_t shape) { return static_cast<uint32_t>(shape) + 1; } // of a loop, in the file

} // namespace

uint64_t footprint_of(std::vector<uint64_t> places) {
    if (places.size() < kFewestPlaces)
        return 0;
    std::ranges::sort(places);
    std::vector<uint64_t> gaps;
    for (size_t i = 1; i < places.size(); ++i)
        gaps.push_back(places[i] - places[i - 1]);
    std::vector<uint64_t> sorted = gaps;
    const auto middle = sorted.begin() + static_cast<long>(sorted.size() / 2);
    std::ranges::nth_element(sorted, middle);
    const double widest = std::max(static_cast<double>(kSmallGap), kWideGap * static_cast<double>(*middle) *
                                                                       std::log(static_cast<double>(places.size())));
    double covered = 0;
    for (const uint64_t gap : gaps)
        covered += static_cast<double>(gap) <= widest ? static_cast<double>(gap) : 0;
    // What lies beyond the outermost places, on average.
    return static_cast<uint64_t>(covered * static_cast<double>(places.size() + 1) / static_cast<double>(places.size() - 1));
}

void StreamTable::note(uint32_t pid, uint64_t generation, uint64_t instruction, uint64_t address) {
    const Key key{pid, generation, instruction};
    auto known = places_.find(key);
    if (known == places_.end()) {
        if (places_.size() >= kMostInstructions)
            return;
        known = places_.try_emplace(key).first;
    }
    Places& places = known->second;
    ++places.met;
    if (places.kept.size() < kMostPlaces) {
        places.kept.push_back(address);
        return;
    }
    random_ = random_ * 6364136223846793005u + 1442695040888963407u;
    if (const uint64_t at = (random_ >> 33) % places.met; at < kMostPlaces) // reservoir sampling
        places.kept[at] = address;
}

uint64_t StreamTable::add(const ThreadBurst& thread, const LoopRate& rate, double occupancy, Loop& loop, Burst& burst) {
    uint64_t bytes = 0;
    loop.end = std::max(loop.end, rate.end);
    loop.samples += rate.samples;
    loop.rounds += rate.rounds_per_s * static_cast<double>(rate.time_ns) * 1e-9;
    // Of all positions those that were seen together: the most there were.
    for (size_t i = 0; i < thread.samples.size(); ++i) {
        const LoopSample& sample = thread.samples[i];
        if (sample.begin != rate.begin)
            continue;
        ++samples_by_cpu_[thread.cpus[i]];
        loop.first_ns = loop.first_ns == 0 ? sample.time_ns : std::min(loop.first_ns, sample.time_ns);
        loop.last_ns = std::max(loop.last_ns, sample.time_ns);
        if (sample.positions.size() > loop.positions.size() ||
            (sample.positions.size() == loop.positions.size() && i + 1 == thread.samples.size()))
            loop.positions = sample.positions;
    }
    burst.threads += occupancy;
    for (const StreamRate& stream : rate.streams) {
        if (!stream.streams)
            continue;
        burst.rounds_per_s[stream.position.instruction] += stream.rounds_per_s * occupancy / stream.sharers;
        StreamUse& use = loop.streams[stream.position.instruction];
        for (const Advance& advance : stream.advances) {
            const uint64_t low = std::min(advance.from, advance.to), high = std::max(advance.from, advance.to);
            use.lowest = std::min(use.lowest, low);
            use.highest = std::max(use.highest, high);
            use.last = advance.to;
            bytes += high - low;
        }
        // Places of one burst lie side by side: one stands for all.
        if (!stream.advances.empty())
            note(thread.pid, thread.generation, stream.position.instruction, stream.advances.front().from);
    }
    return bytes;
}

uint64_t StreamTable::take(const std::vector<ThreadBurst>& threads, const BurstTime& time) {
    uint64_t bytes = 0;
    std::vector<std::vector<LoopRate>> rates;
    for (const ThreadBurst& thread : threads)
        rates.push_back(loop_rates(thread.samples, time.longest_gap_ns));
    // Sharers are looked for within a process: addresses of others are other memory.
    std::map<std::pair<uint32_t, uint64_t>, std::vector<size_t>> processes;
    for (size_t i = 0; i < threads.size(); ++i)
        processes[{threads[i].pid, threads[i].generation}].push_back(i);
    for (const auto& [process, members] : processes) {
        std::vector<std::vector<LoopRate>> own;
        for (const size_t i : members)
            own.push_back(std::move(rates[i]));
        find_sharers(own);
        std::map<Key, Burst> bursts;
        for (size_t at = 0; at < members.size(); ++at) {
            const ThreadBurst& thread = threads[members[at]];
            if (thread.samples.size() < 2)
                continue;
            const uint64_t extent_ns = thread.is_full ? thread.samples.back().time_ns - thread.samples.front().time_ns
                                                      : time.end_ns - time.begin_ns;
            for (const LoopRate& rate : own[at]) {
                const Key key{process.first, process.second, rate.begin};
                if (rate.rounds_per_s <= 0 || extent_ns == 0 || (!loops_.contains(key) && loops_.size() >= kMostLoops))
                    continue;
                Burst& burst = bursts[key];
                burst.loop = key;
                burst.time = time;
                const double occupancy =
                    std::min(1.0, static_cast<double>(rate.time_ns) / static_cast<double>(extent_ns));
                bytes += add(thread, rate, occupancy, loops_[key], burst);
            }
            note_order(thread);
        }
        for (auto& [key, burst] : bursts) {
            Loop& loop = loops_[key];
            loop.thread_count = std::max(loop.thread_count, static_cast<uint64_t>(std::lround(burst.threads)));
            if (bursts_.size() < kMostBursts)
                bursts_.push_back(std::move(burst));
        }
    }
    return bytes;
}

// Which loop a thread came from, as far as its samples lie close enough together to see it.
void StreamTable::note_order(const ThreadBurst& thread) {
    uint64_t before = 0;
    for (const LoopSample& sample : thread.samples) {
        if (sample.begin == 0)
            continue;
        if (const auto loop = loops_.find({thread.pid, thread.generation, sample.begin});
            before != 0 && before != sample.begin && loop != loops_.end() &&
            (loop->second.entered_from.size() < kMostLoops || loop->second.entered_from.contains(before)))
            ++loop->second.entered_from[before];
        before = sample.begin;
    }
}

double StreamTable::Shape::stream_rounds(size_t stream) const {
    return static_cast<double>(footprint_bytes[stream]) / static_cast<double>(magnitude(positions[streams[stream].leader].round));
}

StreamTable::Shape StreamTable::shape_of(const Key& key, const Loop& loop, uint64_t cache_bytes) const {
    Shape shape;
    for (const StreamPosition& position : loop.positions)
        if (loop.streams.contains(position.instruction))
            shape.positions.push_back(position);
    shape.streams = streams_of(shape.positions, cache_bytes / loop.thread_count);
    shape.places.resize(shape.streams.size());
    for (size_t i = 0; i < shape.streams.size(); ++i) {
        shape.round_bytes += shape.streams[i].line_bytes;
        for (const size_t member : shape.streams[i].members)
            if (const auto known = places_.find({std::get<0>(key), std::get<1>(key), shape.positions[member].instruction});
                known != places_.end())
                shape.places[i].insert(shape.places[i].end(), known->second.kept.begin(), known->second.kept.end());
        shape.footprint_bytes.push_back(footprint_of(shape.places[i]));
        shape.sweep_rounds = std::max(shape.sweep_rounds, shape.stream_rounds(i));
    }
    // All streams that go on with the loop make its rounds: one that was hardly seen goes as far as the others.
    for (size_t i = 0; i < shape.streams.size(); ++i)
        if (shape.places[i].size() < kManyPlaces)
            shape.footprint_bytes[i] =
                std::max(shape.footprint_bytes[i],
                         static_cast<uint64_t>(shape.sweep_rounds *
                                               static_cast<double>(magnitude(shape.positions[shape.streams[i].leader].round))));
    return shape;
}

std::map<StreamTable::Key, StreamTable::Shape> StreamTable::shapes_of(uint64_t cache_bytes) const {
    std::map<Key, Shape> shapes;
    for (const auto& [key, loop] : loops_)
        shapes.emplace(key, shape_of(key, loop, cache_bytes));
    return shapes;
}

std::vector<StreamTable::Reuse> StreamTable::reuse_of(const std::map<Key, Shape>& shapes) const {
    std::vector<Reuse> result;
    for (auto first = shapes.begin(); first != shapes.end();) { // the loops of one process follow one another
        auto behind = first;
        std::vector<SweptLoop> loops;
        std::map<uint64_t, size_t> numbers; // by the loop's beginning
        for (; behind != shapes.end() && std::get<0>(behind->first) == std::get<0>(first->first) &&
               std::get<1>(behind->first) == std::get<1>(first->first); ++behind)
            numbers.emplace(std::get<2>(behind->first), numbers.size());
        for (auto at = first; at != behind; ++at) {
            const Shape& shape = at->second;
            const Loop& loop = loops_.at(at->first);
            SweptLoop& swept = loops.emplace_back();
            swept.sweep_bytes = static_cast<uint64_t>(shape.sweep_rounds * static_cast<double>(shape.round_bytes));
            swept.sweeps = shape.sweep_rounds > 0 ? loop.rounds / shape.sweep_rounds : 0;
            swept.threads = loop.thread_count;
            swept.entered_from.resize(numbers.size());
            for (const auto& [begin, count] : loop.entered_from)
                if (const auto from = numbers.find(begin); from != numbers.end())
                    swept.entered_from[from->second] += count;
            for (const StreamPosition& position : shape.positions)
                if (const StreamUse& use = loop.streams.at(position.instruction); use.lowest < use.highest)
                    swept.ranges.push_back({use.lowest, use.highest});
        }
        const std::vector<size_t> before = loops_before(loops);
        const size_t of_others = result.size();
        size_t number = 0;
        for (auto at = first; at != behind; ++at, ++number) {
            const Shape& shape = at->second;
            const Loop& loop = loops_.at(at->first);
            Reuse& reuse = result.emplace_back(Reuse{{}, of_others + before[number], before[number] != number});
            for (size_t i = 0; i < shape.streams.size(); ++i) {
                const auto own = static_cast<uint64_t>(shape.stream_rounds(i) * static_cast<double>(shape.round_bytes));
                const StreamUse& use = loop.streams.at(shape.positions[shape.streams[i].leader].instruction);
                const bool goes_along = shape.stream_rounds(i) >= kGoesAlong * shape.sweep_rounds;
                reuse.bytes.push_back(goes_along ? bytes_until_reuse(loops, before, number, {use.lowest, use.highest}) : own);
            }
        }
        first = behind;
    }
    return result;
}

// Which streams of a loop go beyond the caches, and what they move. Writes them.
StreamTable::Judged StreamTable::judge(const Key& key, const Shape& shape, const Reuse& reuse, uint64_t cache_bytes, uint32_t id,
                                       NodeTraceWriter& file) const {
    Judged judged;
    judged.id = id;
    const Loop& loop = loops_.at(key);
    for (size_t i = 0; i < shape.streams.size(); ++i) {
        const Stream& stream = shape.streams[i];
        const StreamPosition& leader = shape.positions[stream.leader];
        if (!is_beyond(reuse.bytes[i], cache_bytes))
            continue;
        trace::MemoryStream record{};
        record.lowest_address = UINT64_MAX;
        for (const size_t member : stream.members) {
            const StreamUse& use = loop.streams.at(shape.positions[member].instruction);
            record.lowest_address = std::min(record.lowest_address, use.lowest);
            record.highest_address = std::max(record.highest_address, use.highest);
        }
        record.footprint_bytes = shape.footprint_bytes[i];
        record.pid = std::get<0>(key);
        record.loop = id;
        record.loop_begin = std::get<2>(key);
        record.loop_end = loop.end;
        record.instruction = leader.instruction & ~kSecondAccess;
        record.flags = (stream.loads ? uint32_t{trace::kAlignLoad} : 0) | (stream.stores ? uint32_t{trace::kAlignStore} : 0);
        record.width = leader.width;
        record.past_caches = stream.past_caches;
        record.round_bytes = leader.round;
        record.read_bytes = stream.read_bytes();
        record.written_bytes = stream.written_bytes();
        record.last_address = loop.streams.at(leader.instruction).last;
        record.samples = loop.samples;
        record.first_ns = loop.first_ns;
        record.last_ns = loop.last_ns;
        record.after_loop = reuse.is_after_other ? id_of(reuse.after) : 0;
        file.append(trace::RecordType::MemoryStream, 0, record);
        judged.bytes[leader.instruction] = {stream.read_bytes(), stream.written_bytes()};
        if (stream.past_caches && !stream.loads)
            ++judged.mix.past_caches;
        else if (stream.loads && stream.stores)
            ++judged.mix.updates;
        else
            ++(stream.loads ? judged.mix.loads : judged.mix.stores);
    }
    return judged;
}

bool StreamTable::depends_on_cache(uint64_t least_bytes, uint64_t most_bytes) const {
    for (const Reuse& reuse : reuse_of(shapes_of(most_bytes)))
        for (const uint64_t bytes : reuse.bytes)
            if (is_beyond(bytes, least_bytes) && !is_beyond(bytes, most_bytes))
                return true;
    return false;
}

StreamTable::Written StreamTable::write(NodeTraceWriter& file, uint64_t cache_bytes,
                                        const std::function<uint64_t()>& sample_cost_ns) const {
    Written written;
    std::map<Key, Judged> judged;
    const std::map<Key, Shape> shapes = shapes_of(cache_bytes);
    const std::vector<Reuse> reuse = reuse_of(shapes);
    size_t number = 0;
    for (const auto& [key, shape] : shapes) {
        Judged one = judge(key, shape, reuse[number], cache_bytes, id_of(number), file);
        ++number;
        if (!one.bytes.empty())
            judged.emplace(key, std::move(one));
    }
    if (judged.empty())
        return written;
    const auto cost_ns = static_cast<double>(sample_cost_ns());
    std::map<uint64_t, double> threads_at; // by the beginning of the burst
    double thread_ns = 0;
    for (const Burst& burst : bursts_) {
        const auto found = judged.find(burst.loop);
        if (found == judged.end())
            continue;
        Judged& loop = found->second;
        const double part = cost_ns / static_cast<double>(std::max<uint64_t>(burst.time.period_ns, 1));
        const double without_samples = 1 / (1 - std::min(part, kMostSampleCost));
        double read = 0, written_bytes = 0, of_loop = 0;
        for (const auto& [instruction, rounds] : burst.rounds_per_s)
            of_loop = std::max(of_loop, rounds);
        for (const auto& [instruction, bytes] : loop.bytes) {
            // One that the registers did not tell this time went along with the others.
            const auto own = burst.rounds_per_s.find(instruction);
            const double rounds = without_samples * (own == burst.rounds_per_s.end() ? of_loop : own->second);
            read += rounds * static_cast<double>(bytes.read);
            written_bytes += rounds * static_cast<double>(bytes.written);
        }
        trace::TrafficBurst record{};
        record.pid = std::get<0>(burst.loop);
        record.loop = loop.id;
        record.begin_ns = burst.time.begin_ns;
        record.end_ns = burst.time.end_ns;
        record.threads_milli = static_cast<uint64_t>(burst.threads * 1000);
        record.read_bytes_per_s = static_cast<uint64_t>(read);
        record.written_bytes_per_s = static_cast<uint64_t>(written_bytes);
        file.append(trace::RecordType::TrafficBurst, 0, record);
        threads_at[burst.time.begin_ns] += burst.threads;
        const double ns = burst.threads * static_cast<double>(burst.time.end_ns - burst.time.begin_ns);
        loop.thread_ns += ns;
        thread_ns += ns;
    }
    std::vector<double> threads;
    for (const auto& [begin_ns, count] : threads_at)
        threads.push_back(count);
    if (threads.empty())
        return written;
    std::ranges::sort(threads);
    const auto place = static_cast<size_t>(kMostThreadsQuantile * static_cast<double>(threads.size() - 1));
    written.threads = static_cast<uint32_t>(std::max(1L, std::lround(threads[place])));
    std::vector<std::pair<StreamMix, double>> mixes;
    for (const auto& [key, loop] : judged) {
        auto same = std::ranges::find(mixes, loop.mix, &std::pair<StreamMix, double>::first);
        if (same == mixes.end())
            same = mixes.insert(mixes.end(), {loop.mix, 0.0});
        same->second += loop.thread_ns;
    }
    std::ranges::stable_sort(mixes, std::greater{}, &std::pair<StreamMix, double>::second);
    for (const auto& [mix, ns] : mixes)
        if (ns >= kLeastPart * thread_ns)
            written.mixes.push_back(mix);
    return written;
}

} // namespace plumb::record
