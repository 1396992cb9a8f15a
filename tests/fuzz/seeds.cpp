#include "seeds.h"

#include "../unit/synthetic_trace.h"
#include "trace/file/record_fields.h"

#include <cstring>

namespace plumb::trace {

namespace {

constexpr uint32_t kPid = 42;

// A record whose every field holds something that can mean something: known ids, small numbers, rising times.
template <class Record> void add_filled(SyntheticTrace& trace, uint64_t time_ns) {
    Record record = {};
    const RecordDescription* description = describe_record(static_cast<uint16_t>(type_of<Record>()));
    for (const Field& field : description->fields) {
        const std::string_view name = field.name;
        uint64_t value = 1;
        if (field.kind == FieldKind::string)
            value = 1 + field.offset % 4;
        else if (field.kind == FieldKind::node)
            value = 1 + field.offset % 8;
        else if (name == "pid")
            value = kPid;
        else if (name.ends_with("_ns"))
            value = time_ns;
        else if (field.kind == FieldKind::address)
            value = 0x1000 + time_ns;
        if (field.size <= 8 && field.kind != FieldKind::padding)
            std::memcpy(reinterpret_cast<char*>(&record) + field.offset, &value, field.size);
    }
    trace.add(record, kPid + static_cast<uint32_t>(time_ns % 3));
}

// A rank of two, its communicator, and events on it that refer to its sites.
void add_mpi(SyntheticTrace& trace) {
    MpiRank rank = {};
    rank.size = 2;
    rank.first_ticks = 100;
    rank.first_ns = rank.init_end_ns = 1'000;
    rank.last_ticks = 900'000;
    rank.last_ns = rank.finalize_begin_ns = 301'000;
    rank.collectives = rank.messages = 8;
    trace.add(rank, kPid);
    MpiComm comm = {};
    comm.id = 7;
    comm.size = 2;
    comm.flags = kMpiCommWorld;
    trace.add(comm, kPid);
    MpiSite site = {};
    site.id = 9;
    site.comm = 7;
    site.kind = kMpiCollectiveCall | kMpiSynchronising | kMpiReceive;
    site.call = 4;
    site.ticks = 5'000;
    trace.add(site, kPid);
    for (uint64_t i = 0; i < 8; ++i) {
        MpiCollective collective = {};
        collective.comm = 7;
        collective.site = 9;
        collective.sequence = i;
        collective.begin_ticks = collective.wait_ticks = 1'000 + 1'000 * i;
        collective.end_ticks = collective.begin_ticks + 300;
        collective.gap_ticks = 700;
        collective.root = UINT32_MAX;
        trace.add(collective, kPid);
        MpiMessage message = {};
        message.comm = 7;
        message.site = message.wait_site = 9;
        message.flags = i % 2 ? uint32_t{kMpiMessageSent} : 0;
        message.sequence = i / 2;
        message.begin_ticks = message.wait_ticks = 1'400 + 1'000 * i;
        message.end_ticks = message.begin_ticks + 200;
        message.bytes = 64;
        trace.add(message, kPid);
    }
}

std::vector<std::byte> all_records(Writer writer, bool closed) {
    SyntheticTrace trace(writer, kPid);
    trace.header().flags = closed ? uint32_t{kClosed} : 0;
    for (const char* text : {"/bin/app", "app\0-v", "0-3,8", "name"})
        trace.text(text);
    NodeId node = 0;
    for (uint64_t i = 0; i < 8; ++i)
        node = trace.node(i % 3 == 0 ? 0 : node, 0x1000 + 16 * i, i % 2, writer == Writer::recorder ? kPid : 0);
    uint64_t time_ns = 2000;
    for (int round = 0; round < 2; ++round) {
        trace.begin_chunk(8192);
#define PLUMB_X(number, name, what)                                                                          \
    if constexpr (!std::is_same_v<name, String> && !std::is_same_v<name, PathNode>)                          \
        add_filled<name>(trace, ++time_ns);
        PLUMB_TRACE_RECORDS(PLUMB_X)
#undef PLUMB_X
    }
    if (writer == Writer::process) {
        trace.begin_chunk();
        add_mpi(trace);
    }
    return trace.bytes();
}

} // namespace

std::vector<std::pair<std::string, std::vector<std::byte>>> make_seeds() {
    return {
        {"process.plumb", all_records(Writer::process, true)},
        {"node.plumb", all_records(Writer::recorder, false)},
    };
}

std::vector<std::byte> make_rank_trace() {
    SyntheticTrace trace(Writer::process, kPid);
    ProcessStart start = {};
    start.pid = kPid;
    start.time_ns = 500;
    start.executable = trace.text("/bin/app");
    start.rank_count = 2;
    trace.add(start, kPid);
    trace.node(0, 0x1000);
    trace.node(1, 0x1010);
    add_mpi(trace);
    return trace.bytes();
}

} // namespace plumb::trace
