#include "feed.h"
#include "target.h"

#include "record/perf/perf_record.h"

namespace plumb::fuzz {

namespace {

using record::PerfRecord;

constexpr uint64_t kOptional[] = {PERF_SAMPLE_ADDR, PERF_SAMPLE_PERIOD, PERF_SAMPLE_CALLCHAIN, PERF_SAMPLE_REGS_USER,
                                  PERF_SAMPLE_STACK_USER};

template <class Item> void read_all(std::span<const Item> items, const char* begin, const char* end) {
    if (items.empty())
        return;
    require(reinterpret_cast<const char*>(items.data()) >= begin &&
            reinterpret_cast<const char*>(items.data() + items.size()) <= end);
    volatile uint64_t sum = 0;
    for (const Item& item : items)
        sum = sum + static_cast<uint64_t>(item);
}

std::string record_of(uint8_t fields, uint32_t type, uint16_t misc, std::initializer_list<uint64_t> words) {
    Food food;
    food.number(fields).number(type).number(misc).number(static_cast<uint16_t>(0));
    for (const uint64_t word : words)
        food.number(word);
    return food;
}

} // namespace

// What the event asks for, then one record, whose size is that of the rest: the ring says where records end.
void run_perf_records(Bytes input) {
    Feed feed(input);
    const auto asked = feed.number<uint8_t>();
    uint64_t fields = record::kSampleFields;
    for (size_t i = 0; i < std::size(kOptional); ++i)
        if (asked >> i & 1)
            fields |= kOptional[i];
    std::vector<uint64_t> room((std::min<size_t>(feed.rest().size(), 0xfff8) + 7) / 8); // aligned as the ring is
    if (room.empty())
        return;
    std::memcpy(room.data(), feed.rest().data(), std::min(feed.rest().size(), room.size() * 8));
    auto* header = reinterpret_cast<perf_event_header*>(room.data());
    header->size = static_cast<uint16_t>(room.size() * 8);
    const std::optional<PerfRecord> record = record::decode(*header, fields, asked & 0x80 ? 3 : record::kUserRegisterCount);
    if (!record)
        return;
    const char* const begin = reinterpret_cast<const char*>(room.data());
    const char* const end = begin + header->size;
    read_all(record->chain, begin, end);
    read_all(record->registers, begin, end);
    read_all(record->stack, begin, end);
    read_all(std::span<const char>(record->text), begin, end);
    require(record->build_id_size <= sizeof record->build_id);
}

Seeds seeds_of_perf_records() {
    const uint64_t who = uint64_t{43} << 32 | 42;
    return {
        {"sample", record_of(0, PERF_RECORD_SAMPLE, 2, {0x401000, who, 1000, 1})},
        {"chain", record_of(4, PERF_RECORD_SAMPLE, 2, {0x401000, who, 1000, 1, 3, uint64_t(PERF_CONTEXT_USER), 0x401000, 0x402000})},
        {"fault", record_of(3, PERF_RECORD_SAMPLE, 1, {0x401000, who, 1000, 0x7f000, 1, 5})},
        {"stack", record_of(0x98, PERF_RECORD_SAMPLE, 2, {0x401000, who, 1000, 1, 2, 7, 8, 9, 16, 1, 2, 16})},
        {"fork", record_of(0, PERF_RECORD_FORK, 0, {who, who, 5, who, 5, 1})},
        {"comm", record_of(0, PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC, {who, 0x7070610a, who, 5, 1})},
        {"mapping", record_of(0, PERF_RECORD_MMAP2, 0, {who, 0x400000, 0x1000, 0, 8, 77, 0, 5, 0x6f2f, who, 5, 1})},
        {"mapping_with_id", record_of(0, PERF_RECORD_MMAP2, PERF_RECORD_MISC_MMAP_BUILD_ID,
                                      {who, 0x400000, 0x1000, 0, 20, 1, 2, 5, 0x6f2f, who, 5, 1})},
        {"lost", record_of(0, PERF_RECORD_LOST, 0, {1, 2, who, 5, 1})},
        {"throttled", record_of(0, PERF_RECORD_THROTTLE, 0, {1, 2, 3, who, 5, 1})},
    };
}

} // namespace plumb::fuzz
