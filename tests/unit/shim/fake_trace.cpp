#include "fake_trace.h"

#include "record/process/trace_writer.h"

#include <chrono>
#include <cstring>
#include <mutex>
#include <unistd.h>

namespace plumb::test {

FakeTrace& fake_trace() {
    static FakeTrace trace;
    return trace;
}

std::vector<uint64_t> FakeTrace::path(trace::NodeId id) const {
    std::vector<uint64_t> addresses;
    while (id) {
        const trace::PathNode* found = nullptr;
        for (const trace::PathNode& node : nodes)
            if (node.id == id)
                found = &node;
        if (!found)
            break;
        addresses.push_back(found->address);
        id = found->parent;
    }
    return addresses;
}

} // namespace plumb::test

namespace plumb::shim {
namespace {
std::mutex lock;

template <class Record> void* keep(std::deque<Record>& records, const void* bytes) {
    Record record;
    memcpy(&record, bytes, sizeof record);
    records.push_back(record);
    return &records.back();
}
} // namespace

ThreadState* Guard::adopt_this_thread() {
    if (ThreadState* state = allocate_thread_state()) {
        state->tid = static_cast<uint32_t>(gettid());
        state->live.store(1);
        this_thread = state;
    }
    return this_thread;
}

ThreadState* state_after_left_guard(ThreadState&, uint64_t) { return nullptr; }

void* append_bytes(const Guard&, trace::RecordType type, void* record, uint32_t) {
    test::FakeTrace& trace = test::fake_trace();
    const std::lock_guard<std::mutex> hold(lock);
    if (trace.full)
        return nullptr;
    switch (type) {
    case trace::RecordType::PathNode:
        return keep(trace.nodes, record);
    case trace::RecordType::HeapSite:
        return keep(trace.sites, record);
    case trace::RecordType::HeapTotals:
        return keep(trace.totals, record);
    case trace::RecordType::LargeMap:
        return keep(trace.maps, record);
    case trace::RecordType::MpiRank:
        return keep(trace.mpi_ranks, record);
    case trace::RecordType::MpiComm:
        return keep(trace.mpi_comms, record);
    case trace::RecordType::MpiInside:
        return keep(trace.mpi_inside, record);
    case trace::RecordType::MpiSite:
        return keep(trace.mpi_sites, record);
    case trace::RecordType::MpiPeer:
        return keep(trace.mpi_peers, record);
    default:
        return nullptr;
    }
}

void* append_free_records(const Guard&, trace::RecordType type, uint32_t bytes_each, uint32_t count) {
    test::FakeTrace& trace = test::fake_trace();
    const std::lock_guard<std::mutex> hold(lock);
    if (trace.full)
        return nullptr;
    auto& chunk = trace.free_records.emplace_back(uint64_t{bytes_each} * count / 8);
    for (uint32_t i = 0; i < count; ++i)
        reinterpret_cast<trace::RecordHeader&>(chunk[uint64_t{i} * bytes_each / 8]) = {
            static_cast<uint16_t>(type), static_cast<uint16_t>(bytes_each), 0};
    return chunk.data();
}

trace::StringId write_string(const Guard&, const char* text, size_t length) {
    test::FakeTrace& trace = test::fake_trace();
    const std::lock_guard<std::mutex> hold(lock);
    trace.strings.emplace_back(text, length);
    return static_cast<trace::StringId>(trace.strings.size());
}

uint64_t record_limit_bytes() { return test::fake_trace().limit_bytes; }
void add_own_cost(uint64_t) {}

void write_evidence(const Guard&, const char*, trace::EvidenceState, const char*, const char*) {}

uint64_t now_ns() {
    return static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1));
}

} // namespace plumb::shim
