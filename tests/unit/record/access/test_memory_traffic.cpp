// What streams of loops move: which accesses a loop makes, which of them are one stream, how fast streams come forward in
// samples of threads, and what is written of all that; the roof that is timed, and the CPUs it is timed on.
#include "fake_tree.h"
#include "needs_decoder.h"
#include "platform/cpu_paths.h"
#include "record/access/loops/loop_streams.h"
#include "record/access/traffic/stream_rates.h"
#include "record/access/traffic/stream_table.h"
#include "record/access/traffic/stream_traffic.h"
#include "record/calibrate/bandwidth_timing.h"
#include "trace/file/records.h"

#include <catch2/catch.hpp>

#include <map>

using namespace plumb;
using namespace plumb::record;

namespace {

constexpr uint64_t kPeriod_ns = 100'000, kGap_ns = 300'000;
constexpr uint64_t kA = 0x10000000, kB = 0x20000000, kC = 0x30000000;

StreamPosition access(uint64_t instruction, uint64_t address, int64_t round, bool store = false, uint16_t width = 8) {
    return {instruction, address, round, width, !store, store, false};
}

} // namespace

#if defined(__x86_64__)

namespace {

using Bytes = std::vector<uint8_t>;

// 0: movsd (%rsi,%rax,8),%xmm0; 5: mulsd %xmm1,%xmm0; 9: addsd (%rdx,%rax,8),%xmm0; 14: the store; 19: add $1,%rax;
// 23: cmp %rcx,%rax; 26: jne 0; ret
Bytes triad(const Bytes& store) {
    Bytes code = {0xf2, 0x0f, 0x10, 0x04, 0xc6, 0xf2, 0x0f, 0x59, 0xc1, 0xf2, 0x0f, 0x58, 0x04, 0xc2};
    code.insert(code.end(), store.begin(), store.end());
    const Bytes rest = {0x48, 0x83, 0xc0, 0x01, 0x48, 0x39, 0xc8, 0x75};
    code.insert(code.end(), rest.begin(), rest.end());
    code.push_back(static_cast<uint8_t>(-static_cast<int>(code.size()) - 1));
    code.push_back(0xc3);
    return code;
}
const Bytes kStore = {0xf2, 0x0f, 0x11, 0x04, 0xc7}; // movsd %xmm0,(%rdi,%rax,8)

std::vector<StreamPosition> streams(const Bytes& code, uint64_t offset, uint64_t index = 1000) {
    const auto loop = LoopStreams::follow(CodeRegion::from_boundary(kStart, code), kStart + offset);
    if (!loop)
        return {};
    shim::Registers registers{};
    registers[kRax] = index;
    registers[kRcx] = 1 << 20;
    registers[kRsi] = kB;
    registers[kRdx] = kC;
    registers[kRdi] = kA;
    CHECK(loop->begin(kStart + offset) == kStart);
    return loop->at(kStart + offset, registers);
}

} // namespace

TEST_CASE("all accesses of a loop are found, wherever in it the sample was taken") {
    NEEDS_DECODER();
    for (const uint64_t offset : {0, 5, 9, 14, 19, 23, 26}) {
        const std::vector<StreamPosition> found = streams(triad(kStore), offset);
        INFO("sampled at " << offset);
        REQUIRE(found.size() == 3);
        CHECK(found[0].instruction == kStart);
        CHECK(found[1].instruction == kStart + 9);
        CHECK(found[2].instruction == kStart + 14);
        CHECK(found[0].load);
        CHECK(found[2].store);
        CHECK_FALSE(found[2].load);
        CHECK_FALSE(found[2].past_caches);
        for (const StreamPosition& each : found)
            CHECK(each.round == 8);
        // Behind the store the index has not been stepped yet, and the next access is that of the next round.
        CHECK(found[0].address == kB + 8 * (offset == 0 || offset > 19 ? 1000 : 1001));
        CHECK(found[2].address == kA + 8 * (offset <= 14 || offset > 19 ? 1000 : 1001));
    }
}

TEST_CASE("non-temporal stores are known, and repeated string instructions") {
    if (!shim::has_decoder())
        return;
    CHECK(streams(triad({0x66, 0x0f, 0x2b, 0x04, 0xc7}), 5).at(2).past_caches); // movntpd %xmm0,(%rdi,%rax,8)
    CHECK(streams(triad({0xc5, 0xfd, 0xe7, 0x04, 0xc7}), 5).at(2).past_caches); // vmovntdq %ymm0,(%rdi,%rax,8)
    CHECK(streams(triad({0x4c, 0x0f, 0xc3, 0x04, 0xc7}), 5).at(2).past_caches); // movnti %r8,(%rdi,%rax,8)
    const std::vector<StreamPosition> copy = streams({0xf3, 0xa4, 0xc3}, 0); // rep movsb
    REQUIRE(copy.size() == 2);
    CHECK(copy[0].round == 1);
    CHECK(copy[0].load != copy[1].load);
    CHECK(copy[0].instruction == kStart);
    CHECK(copy[1].instruction == kStart + kSecondAccess);
    CHECK((copy[0].store ? copy[0] : copy[1]).address == kA);
    CHECK((copy[0].store ? copy[0] : copy[1]).past_caches);
    CHECK(streams({0x48, 0x83, 0xc0, 0x01, 0xc3}, 0).empty()); // no loop
    // addsd 8(%rsp),%xmm0; add $1,%rax; jne back: nothing moves
    CHECK(streams({0xf2, 0x0f, 0x58, 0x44, 0x24, 0x08, 0x48, 0x83, 0xc0, 0x01, 0x75, 0xf4, 0xc3}, 0).empty());
}

#endif

TEST_CASE("accesses that follow one another through the same memory are one stream") {
    // A triad that was unrolled: two loads of b, two of c, two stores.
    const std::vector<StreamPosition> triad = {access(1, kB, 32, false, 16), access(2, kB + 16, 32, false, 16),
                                               access(3, kC, 32, false, 16), access(4, kC + 16, 32, false, 16),
                                               access(5, kA, 32, true, 16),  access(6, kA + 16, 32, true, 16)};
    const std::vector<Stream> streams = streams_of(triad, 1 << 20);
    REQUIRE(streams.size() == 3);
    uint64_t read = 0, written = 0;
    for (const Stream& stream : streams) {
        CHECK(stream.members.size() == 2);
        CHECK(stream.line_bytes == 32);
        read += stream.read_bytes();
        written += stream.written_bytes();
    }
    CHECK(read == 96); // what is stored is read first
    CHECK(written == 32);

    // Rows of a stencil: near enough that the caches keep them, or not.
    const std::vector<StreamPosition> stencil = {access(1, kB - 8000, 8), access(2, kB, 8), access(3, kB + 8000, 8),
                                                 access(4, kA, 8, true)};
    CHECK(streams_of(stencil, 1 << 20).size() == 2);
    CHECK(streams_of(stencil, 8192).size() == 4);
    CHECK(streams_of(stencil, 1 << 20).front().leader == 2); // the row in front

    // Read and written in place; backwards; far steps touch a line each.
    const std::vector<StreamPosition> update = {access(1, kA, 8), access(2, kA, 8, true)};
    REQUIRE(streams_of(update, 1 << 20).size() == 1);
    CHECK(streams_of(update, 1 << 20)[0].read_bytes() == 8);
    CHECK(streams_of(update, 1 << 20)[0].written_bytes() == 8);
    CHECK(streams_of(std::vector{access(1, kA, -8), access(2, kA - 8, -8)}, 1 << 20).size() == 1);
    CHECK(streams_of(std::vector{access(1, kA, 4096)}, 1 << 20)[0].line_bytes == 64);
    CHECK(streams_of(std::vector{access(1, kA, 96, false, 8), access(2, kA + 64, 96, false, 8)}, 1 << 20)[0].line_bytes == 96);

    StreamPosition past = access(1, kA, 8, true);
    past.past_caches = true;
    CHECK(streams_of(std::vector{past}, 0)[0].read_bytes() == 0);
    CHECK(streams_of(std::vector{past}, 0)[0].written_bytes() == 8);
    CHECK(streams_of({}, 1 << 20).empty());
}

namespace {

// A thread that goes through `bytes` of memory at `base`, again and again, `rate` rounds a second, in a loop of two loads and
// a store; beside them it reads `small_bytes` at kC over and over.
std::vector<LoopSample> sweep(uint64_t base, uint64_t bytes, double rate, int count, uint64_t small_bytes = 0,
                              double start = 0) {
    std::vector<LoopSample> samples;
    for (int i = 0; i < count; ++i) {
        // Not quite even, as on a machine that does other things too.
        const uint64_t time_ns = 1'000'000'000 + static_cast<uint64_t>(i) * kPeriod_ns + static_cast<uint64_t>(i * 7 % 5) * 900;
        const auto round = static_cast<uint64_t>(start + rate * static_cast<double>(time_ns - 1'000'000'000) * 1e-9);
        LoopSample sample{time_ns, 0x400, 0x440, {}};
        sample.positions = {access(0x400, base + round * 8 % bytes, 8),
                            access(0x410, base + (1u << 28) + round * 8 % bytes, 8),
                            access(0x420, base + (2u << 28) + round * 8 % bytes, 8, true)};
        if (small_bytes)
            sample.positions.push_back(access(0x430, kC + round * 8 % small_bytes, 8));
        samples.push_back(sample);
    }
    return samples;
}

} // namespace

TEST_CASE("the rate of a loop is that of its streams; what begins anew within short is none") {
    const double rate = 1.25e8; // 1 GB/s of each stream: 100 KB between samples
    for (const uint64_t small : {40'000u, 12'345u, 150'000u, 333'000u}) {
        const std::vector<LoopRate> rates = loop_rates(sweep(kA, 16 << 20, rate, 64, small), kGap_ns);
        REQUIRE(rates.size() == 1);
        CHECK(rates[0].rounds_per_s == Approx(rate).epsilon(0.02));
        CHECK(rates[0].samples == 64);
        CHECK(rates[0].time_ns == Approx(63 * kPeriod_ns).epsilon(0.02));
        REQUIRE(rates[0].streams.size() == 4);
        for (int i = 0; i < 3; ++i)
            CHECK(rates[0].streams[i].streams);
        // A ring of 333 KB is passed forward evenly for three samples and jumps back once: it is far too small to leave
        // the caches, which its footprint tells later.
        if (small != 333'000)
            CHECK_FALSE(rates[0].streams[3].streams);
    }
    // Downwards.
    std::vector<LoopSample> down = sweep(kA, 16 << 20, rate, 64);
    for (LoopSample& sample : down)
        for (StreamPosition& position : sample.positions) {
            position.address = 2 * kC - position.address;
            position.round = -position.round;
        }
    CHECK(loop_rates(down, kGap_ns).at(0).rounds_per_s == Approx(rate).epsilon(0.02));
}

TEST_CASE("random places and lost CPUs have no rate") {
    std::vector<LoopSample> samples = sweep(kA, 16 << 20, 1e8, 64);
    uint64_t random = 1;
    for (LoopSample& sample : samples)
        for (StreamPosition& position : sample.positions) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            position.address = kA + (random >> 33) % (64 << 20);
        }
    const std::vector<LoopRate> rates = loop_rates(samples, kGap_ns);
    REQUIRE(rates.size() == 1);
    for (const StreamRate& stream : rates[0].streams)
        CHECK_FALSE(stream.streams);
    CHECK(rates[0].rounds_per_s == 0);

    samples = sweep(kA, 16 << 20, 1e8, 64);
    for (size_t i = 32; i < 64; ++i)
        samples[i].time_ns += 50'000'000; // another thread had the CPU
    CHECK(loop_rates(samples, kGap_ns).at(0).rounds_per_s == Approx(1e8).epsilon(0.02));
    CHECK(loop_rates(samples, kGap_ns).at(0).time_ns < 64 * kPeriod_ns);
    CHECK(loop_rates({}, kGap_ns).empty());
    samples.resize(3);
    CHECK(loop_rates(samples, kGap_ns).at(0).rounds_per_s == 0); // too few to tell
    LoopSample outside;
    outside.time_ns = 1'000'000'000;
    CHECK(loop_rates(std::vector{outside, outside}, kGap_ns).empty());
}

TEST_CASE("threads that go through the same memory together move it once") {
    const double rate = 1.25e8;
    // Each has a part of its own.
    std::vector<std::vector<LoopRate>> apart;
    for (uint64_t i = 0; i < 4; ++i)
        apart.push_back(loop_rates(sweep(kA + i * (16 << 20), 16 << 20, rate, 64), kGap_ns));
    find_sharers(apart);
    for (const auto& thread : apart)
        CHECK(thread[0].streams[0].sharers == Approx(1));
    // Chunks are handed out in turn: each seems to come forward as fast as all of them together.
    std::vector<std::vector<LoopRate>> turns;
    for (int i = 0; i < 4; ++i)
        turns.push_back(loop_rates(sweep(kA, 64 << 20, rate, 64, 0, i * 1024), kGap_ns));
    find_sharers(turns);
    double sum = 0;
    for (const auto& thread : turns)
        sum += thread[0].rounds_per_s / thread[0].streams[0].sharers;
    CHECK(sum == Approx(rate).epsilon(0.05));
}

namespace {

struct Written {
    StreamTable::Written table;
    std::vector<trace::MemoryStream> streams;
    std::vector<trace::TrafficBurst> bursts;
};

Written written(const StreamTable& table, uint64_t cache_bytes, uint64_t sample_cost_ns = 0) {
    const FakeTree folder;
    const std::string path = folder.root() + "/node.plumb";
    Written all;
    {
        NodeTraceWriter file(path, 4 << 20, 4 << 20);
        all.table = table.write(file, cache_bytes, [&] { return sample_cost_ns; });
        file.close();
    }
    trace::TraceReader reader(path);
    trace::for_each_record(reader, trace::Overloaded{
        [&](const trace::MemoryStream& record) { all.streams.push_back(record); },
        [&](const trace::TrafficBurst& record) { all.bursts.push_back(record); }});
    return all;
}

// Bursts in which `threads` threads go through parts of `bytes` each of three arrays.
StreamTable table_of(uint64_t threads, uint64_t bytes, double rate, int bursts = 6, double busy = 1) {
    StreamTable table;
    for (int burst = 0; burst < bursts; ++burst) {
        std::vector<ThreadBurst> seen;
        for (uint64_t i = 0; i < threads; ++i) {
            ThreadBurst thread;
            thread.pid = 100;
            thread.generation = 1;
            thread.samples = sweep(kA + i * bytes, bytes, rate, 64, 40'000, burst * 1e6 * 7.3);
            thread.cpus.assign(64, static_cast<int>(i));
            thread.is_full = busy == 1;
            seen.push_back(thread);
        }
        const uint64_t begin_ns = 1'000'000'000 + static_cast<uint64_t>(burst) * 100'000'000;
        table.take(seen, {begin_ns, begin_ns + static_cast<uint64_t>(63.0 * kPeriod_ns / busy), kPeriod_ns, kGap_ns});
    }
    return table;
}

} // namespace

TEST_CASE("how much memory places cover") {
    std::vector<uint64_t> places;
    uint64_t random = 1;
    const auto take = [&](uint64_t base, uint64_t bytes, int count) {
        for (int i = 0; i < count; ++i) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            places.push_back(base + (random >> 33) % bytes);
        }
    };
    take(kA, 100 << 20, 7);
    CHECK(footprint_of(places) == 0); // too few to tell
    take(kA, 100 << 20, 193);
    CHECK(footprint_of(places) == Approx(100 << 20).epsilon(0.1));
    places.clear();
    take(kA, 1 << 20, 100); // two small arrays far from one another
    take(kA + (uint64_t{1} << 40), 1 << 20, 100);
    CHECK(footprint_of(places) == Approx(2 << 20).epsilon(0.1));
    places.assign(50, kA);
    CHECK(footprint_of(places) == 0);
}

TEST_CASE("what threads move together is written, burst by burst") {
    const double rate = 1.25e8;
    const Written all = written(table_of(4, 16 << 20, rate), 8 << 20);
    REQUIRE(all.streams.size() == 3); // not the small array
    for (const trace::MemoryStream& stream : all.streams) {
        CHECK(stream.pid == 100);
        CHECK(stream.loop == 1);
        CHECK(stream.loop_begin == 0x400);
        CHECK(stream.round_bytes == 8);
        CHECK(stream.read_bytes == 8);
        CHECK(stream.written_bytes == (stream.flags & trace::kAlignStore ? 8u : 0u));
        CHECK(stream.footprint_bytes > 40u << 20);
        CHECK(stream.footprint_bytes < 80u << 20);
    }
    REQUIRE(all.bursts.size() == 6);
    for (const trace::TrafficBurst& burst : all.bursts) {
        CHECK(burst.threads_milli == Approx(4000).epsilon(0.03));
        CHECK(burst.read_bytes_per_s == Approx(4 * rate * 24).epsilon(0.05));
        CHECK(burst.written_bytes_per_s == Approx(4 * rate * 8).epsilon(0.05));
    }
    CHECK(all.table.threads == 4);
    REQUIRE(all.table.mixes.size() == 1);
    CHECK(all.table.mixes[0] == StreamMix{2, 1, 0, 0});
    // What the samples took from the threads is added again; a cost that cannot be is not believed.
    CHECK(written(table_of(4, 16 << 20, rate), 8 << 20, 20'000).bursts.at(0).read_bytes_per_s ==
          Approx(4 * rate * 24 / 0.8).epsilon(0.05));
    CHECK(written(table_of(4, 16 << 20, rate), 8 << 20, 200'000).bursts.at(0).read_bytes_per_s < 6 * rate * 24);
}

TEST_CASE("a burst tells how far its streams came") {
    const auto streamed = [](double rate, int64_t bytes) {
        ThreadBurst thread;
        thread.samples = sweep(kA, static_cast<uint64_t>(bytes), rate, 64);
        thread.cpus.assign(64, 0);
        thread.is_full = true;
        return StreamTable().take({thread}, {0, 63 * kPeriod_ns, kPeriod_ns, kGap_ns});
    };
    // Of three streams of 1 GB/s in 6.3 ms, less the steps from the end of the memory to its begin.
    CHECK(static_cast<double>(streamed(1.25e8, 16 << 20)) == Approx(3 * 6.3e6).epsilon(0.05));
    CHECK(StreamTable().take({}, {0, 63 * kPeriod_ns, kPeriod_ns, kGap_ns}) == 0);
    CHECK(streamed(1.25e8, 40'000) < 3'000'000); // they begin anew within short: what seems to come forward is chance
}

TEST_CASE("threads that wait half of the time move half as much") {
    const Written all = written(table_of(4, 16 << 20, 1.25e8, 6, 0.5), 8 << 20);
    REQUIRE_FALSE(all.bursts.empty());
    CHECK(all.bursts[0].threads_milli == Approx(2000).epsilon(0.05));
    CHECK(all.bursts[0].read_bytes_per_s == Approx(2 * 1.25e8 * 24).epsilon(0.06));
    CHECK(all.table.threads == 2);
}

TEST_CASE("what the caches hold is no traffic") {
    CHECK(written(table_of(4, 1 << 20, 1.25e8), 64 << 20).streams.empty());
    CHECK(written(table_of(4, 1 << 20, 1.25e8), 64 << 20).table.mixes.empty());
    CHECK(written(StreamTable(), 64 << 20).bursts.empty());
    // Three arrays of 16 MiB a thread: 192 MiB pass in all.
    const StreamTable table = table_of(4, 16 << 20, 1.25e8);
    CHECK(table.depends_on_cache(64 << 20, 480 << 20));
    CHECK_FALSE(table.depends_on_cache(8 << 20, 64 << 20));    // beyond both
    CHECK_FALSE(table.depends_on_cache(400 << 20, 480 << 20)); // within both
    CHECK_FALSE(StreamTable().depends_on_cache(1, 480 << 20));
}

TEST_CASE("which loop each sweep of a loop comes after is recorded") {
    // Bursts of a thread that goes from one loop to another in the middle; from which to which, changes.
    const auto after = [](bool alternates) {
        StreamTable table;
        for (int burst = 0; burst < 12; ++burst) {
            ThreadBurst thread;
            thread.pid = 100;
            thread.generation = 1;
            thread.samples = sweep(kA, 64 << 20, 1.25e8, 48, 0, burst * 1e6 * 7.3);
            const bool swapped = alternates && burst % 2;
            for (size_t i = 0; i < thread.samples.size(); ++i)
                if ((i >= 24) != swapped) { // in the loop behind, over the same arrays
                    LoopSample& sample = thread.samples[i];
                    sample.begin += 0x100;
                    sample.end += 0x100;
                    for (StreamPosition& position : sample.positions)
                        position.instruction += 0x100;
                }
            thread.cpus.assign(48, 0);
            thread.is_full = true;
            const uint64_t begin_ns = 1'000'000'000 + static_cast<uint64_t>(burst) * 100'000'000;
            table.take({thread}, {begin_ns, begin_ns + 48 * kPeriod_ns, kPeriod_ns, kGap_ns});
        }
        std::map<uint64_t, uint64_t> by_loop; // by beginning: that of the one before, 0 where none is known
        const std::vector<trace::MemoryStream> streams = written(table, 8 << 20).streams;
        for (const trace::MemoryStream& stream : streams)
            for (const trace::MemoryStream& other : streams)
                if (other.loop == stream.after_loop)
                    by_loop[stream.loop_begin] = other.loop_begin;
        return by_loop;
    };
    CHECK(after(true) == std::map<uint64_t, uint64_t>{{0x400, 0x500}, {0x500, 0x400}});
    CHECK(after(false) == std::map<uint64_t, uint64_t>{{0x500, 0x400}}); // nobody was seen to enter the first
}

TEST_CASE("what passes until a loop comes back depends on the loops that run in between") {
    const uint64_t mib = 1 << 20;
    const MemoryRange a{0, 24 * mib}, b{100 * mib, 124 * mib}, c{200 * mib, 224 * mib};
    // Three loops in turn, seen ten times each; the first and the last share an array.
    std::vector<SweptLoop> loops = {{.sweep_bytes = 48 * mib, .sweeps = 10, .threads = 2, .ranges = {a, b}, .entered_from = {0, 0, 20}},
                                    {.sweep_bytes = 24 * mib, .sweeps = 10, .threads = 2, .ranges = {c}, .entered_from = {20, 0, 0}},
                                    {.sweep_bytes = 24 * mib, .sweeps = 10, .threads = 2, .ranges = {a}, .entered_from = {0, 20, 0}}};
    const std::vector<size_t> before = loops_before(loops);
    CHECK(before == std::vector<size_t>{2, 0, 1});
    CHECK(bytes_until_reuse(loops, before, 0, b) == 96 * mib); // all three
    CHECK(bytes_until_reuse(loops, before, 0, a) == 36 * mib); // the last one had it: half of each
    CHECK(bytes_until_reuse(loops, before, 2, a) == 60 * mib); // half of its own, the second, half of the first
    loops[1].sweeps = 200; // many sweeps before another loop runs
    CHECK(loops_before(loops)[1] == 1);
    CHECK(bytes_until_reuse(loops, loops_before(loops), 1, c) == 24 * mib);
    CHECK(bytes_until_reuse(loops, loops_before(loops), 2, b) == 48 * mib); // what came before the second is not known
    loops[0].entered_from = {0, 0, 1}; // too few to tell
    CHECK(bytes_until_reuse(loops, loops_before(loops), 0, b) == 48 * mib);
}

TEST_CASE("steps of threads and mixes of streams for the trial") {
    CHECK(thread_steps(1) == std::vector<uint32_t>{1});
    CHECK(thread_steps(2) == std::vector<uint32_t>{1, 2});
    CHECK(thread_steps(8) == std::vector<uint32_t>{1, 2, 3, 4, 6, 8});
    CHECK(thread_steps(10) == std::vector<uint32_t>{1, 2, 3, 4, 6, 8, 10});
    CHECK(thread_steps(0).empty());
    CHECK(reduced({2, 1, 0, 0}, 6) == StreamMix{2, 1, 0, 0});
    CHECK(reduced({12, 1, 0, 0}, 6) == StreamMix{5, 1, 0, 0});
    CHECK(reduced({9, 9, 1, 1}, 3).arrays() == 4); // one of each kind stays
}

TEST_CASE("the roof is timed on the CPUs that are given, or it is said why not") {
    const int cpu = sched_getcpu();
    const BandwidthTime time = time_bandwidth({2, 1, 1, 1}, {{cpu, 0}}, 8 << 20, 1 << 30);
    REQUIRE(time.points.size() == 1);
    CHECK(time.why_not.empty());
    CHECK(time.points[0].threads == 1);
    CHECK(time.points[0].bytes_per_s > 1e8);
    CHECK(time.points[0].low <= time.points[0].bytes_per_s);
    CHECK(time.points[0].high >= time.points[0].bytes_per_s);
    CHECK(time.bytes <= 8 << 20);
    CHECK(time.bytes > 7 << 20);
    const BandwidthTime refused = time_bandwidth({2, 1, 0, 0}, {{cpu, 0}}, 8 << 20, 4 << 20);
    CHECK(refused.points.empty());
    CHECK_FALSE(refused.why_not.empty());
    const BandwidthTime elsewhere = time_bandwidth({1, 0, 0, 0}, {{cpu, 0}, {100'000, 0}}, 8 << 20, 1 << 30);
    CHECK(elsewhere.points.empty());
    CHECK_FALSE(elsewhere.why_not.empty());
    CHECK(time_bandwidth({}, {{cpu, 0}}, 8 << 20, 1 << 30).points.empty());
}

TEST_CASE("CPUs are taken so that they share as little as can be") {
    const FakeTree machine;
    // Two nodes, each of two cores with two threads and a cache of 1 MiB.
    for (int cpu = 0; cpu < 8; ++cpu) {
        const std::string folder = "sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/";
        const int core = cpu % 4, node = core / 2;
        machine.write(folder + "topology/thread_siblings_list", std::to_string(core) + "," + std::to_string(core + 4) + "\n");
        machine.write(folder + "cache/index0/level", "3\n");
        machine.write(folder + "cache/index0/type", "Unified\n");
        machine.write(folder + "cache/index0/number_of_sets", "1024\n");
        machine.write(folder + "cache/index0/ways_of_associativity", "16\n");
        machine.write(folder + "cache/index0/coherency_line_size", "64\n");
        machine.write(folder + "cache/index0/shared_cpu_list", node ? "2-3,6-7\n" : "0-1,4-5\n");
    }
    machine.write("sys/devices/system/node/online", "0-1\n");
    machine.write("sys/devices/system/node/node0/cpulist", "0-1,4-5\n");
    machine.write("sys/devices/system/node/node1/cpulist", "2-3,6-7\n");
    std::vector<platform::CpuPath> paths = platform::read_cpu_paths(machine.root(), {0, 1, 2, 3, 4, 5, 6, 7});
    REQUIRE(paths.size() == 8);
    CHECK(paths[6] == platform::CpuPath{6, 2, 2, 1, 1 << 20});
    std::vector<int> order;
    for (const platform::CpuPath& path : platform::spread(paths))
        order.push_back(path.cpu);
    CHECK(order == std::vector<int>{0, 2, 1, 3, 4, 6, 5, 7});
    CHECK(platform::read_cpu_paths("/nowhere", {3}).at(0) == platform::CpuPath{3, 3, 3, 0, 0});
}
