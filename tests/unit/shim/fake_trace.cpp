#include "fake_trace.h"

#include "record/trace_writer.h"

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
    case trace::RecordType::LargeUnmap:
        return keep(trace.unmaps, record);
    default:
        return nullptr;
    }
}

void write_evidence(const Guard&, const char*, trace::EvidenceState, const char*, const char*) {}

uint64_t now_ns() {
    return static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1));
}

} // namespace plumb::shim
