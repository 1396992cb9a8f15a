#include "record/perf/perf_record.h"

#include <cstring>

namespace plumb::record {

namespace {

// Takes values off a record; once it ran past the end every further value is 0 and ok() is false.
class Cursor {
  public:
    Cursor(const char* begin, const char* end) : at_(begin), end_(end) {}
    template <class Value> Value take() {
        Value value{};
        if (const char* place = skip(sizeof value))
            std::memcpy(&value, place, sizeof value);
        return value;
    }
    const char* skip(uint64_t bytes) {
        if (bytes > static_cast<uint64_t>(end_ - at_)) {
            ok_ = false;
            at_ = end_;
            return nullptr;
        }
        const char* place = at_;
        at_ += bytes;
        return place;
    }
    std::span<const uint64_t> words(uint64_t count) { // at a place aligned to them
        const char* place = skip(count * 8);
        return {reinterpret_cast<const uint64_t*>(place), place ? count : 0};
    }
    std::string_view text() const { return {at_, strnlen(at_, end_ - at_)}; }
    bool ok() const { return ok_; }

  private:
    const char* at_;
    const char* end_;
    bool ok_ = true;
};

bool take_sample(Cursor cursor, uint64_t fields, unsigned register_count, PerfRecord& record) {
    record.address = cursor.take<uint64_t>();
    record.pid = cursor.take<uint32_t>();
    record.tid = cursor.take<uint32_t>();
    record.time_ns = cursor.take<uint64_t>();
    if (fields & PERF_SAMPLE_ADDR)
        record.data_address = cursor.take<uint64_t>();
    record.cpu = cursor.take<int32_t>();
    cursor.take<uint32_t>();
    if (fields & PERF_SAMPLE_PERIOD)
        record.period = cursor.take<uint64_t>();
    if (fields & PERF_SAMPLE_CALLCHAIN) {
        const uint64_t count = cursor.take<uint64_t>();
        if (count > 8192)
            return false;
        record.chain = cursor.words(count);
    }
    if (fields & PERF_SAMPLE_REGS_USER) {
        record.register_abi = cursor.take<uint64_t>();
        if (record.register_abi != PERF_SAMPLE_REGS_ABI_NONE)
            record.registers = cursor.words(register_count);
    }
    if (fields & PERF_SAMPLE_STACK_USER) {
        const uint64_t copied = cursor.take<uint64_t>();
        const char* stack = cursor.skip(copied);
        const uint64_t valid = copied ? cursor.take<uint64_t>() : 0;
        if (stack && valid <= copied)
            record.stack = {stack, valid};
    }
    return cursor.ok();
}

void take_mapping(Cursor cursor, const perf_event_header& header, PerfRecord& record) {
    cursor.take<uint64_t>(); // pid, tid
    record.start = cursor.take<uint64_t>();
    record.length = cursor.take<uint64_t>();
    record.page_offset = cursor.take<uint64_t>();
    if (header.misc & PERF_RECORD_MISC_MMAP_BUILD_ID) {
        const uint8_t size = cursor.take<uint8_t>();
        cursor.skip(3);
        if (const char* id = cursor.skip(20)) {
            record.build_id_size = size <= 20 ? size : 20;
            std::memcpy(record.build_id, id, 20);
        }
    } else {
        const uint64_t major = cursor.take<uint32_t>();
        record.device = major << 32 | cursor.take<uint32_t>();
        record.inode = cursor.take<uint64_t>();
        cursor.take<uint64_t>(); // generation
    }
    record.protection = cursor.take<uint32_t>();
    cursor.take<uint32_t>(); // MAP_ flags
    record.text = cursor.text();
}

} // namespace

std::optional<PerfRecord> decode(const perf_event_header& header, uint64_t fields, unsigned register_count) {
    const char* begin = reinterpret_cast<const char*>(&header + 1);
    const char* end = reinterpret_cast<const char*>(&header) + header.size;
    PerfRecord record;
    if (header.type == PERF_RECORD_SAMPLE) {
        record.in_kernel = (header.misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
        return take_sample(Cursor(begin, end), fields, register_count, record) ? std::optional(record) : std::nullopt;
    }
    // All others end with who, when and where.
    constexpr size_t kTrailer = 24;
    if (header.size < sizeof header + kTrailer)
        return std::nullopt;
    Cursor trailer(end - kTrailer, end);
    record.pid = trailer.take<uint32_t>();
    record.tid = trailer.take<uint32_t>();
    record.time_ns = trailer.take<uint64_t>();
    record.cpu = trailer.take<int32_t>();
    Cursor cursor(begin, end - kTrailer);
    switch (header.type) {
    case PERF_RECORD_FORK:
    case PERF_RECORD_EXIT:
        record.kind = header.type == PERF_RECORD_FORK ? PerfKind::fork : PerfKind::exit;
        record.pid = cursor.take<uint32_t>();
        record.parent_pid = cursor.take<uint32_t>();
        record.tid = cursor.take<uint32_t>();
        record.parent_tid = cursor.take<uint32_t>();
        break;
    case PERF_RECORD_COMM:
        record.kind = header.misc & PERF_RECORD_MISC_COMM_EXEC ? PerfKind::exec : PerfKind::comm;
        record.pid = cursor.take<uint32_t>();
        record.tid = cursor.take<uint32_t>();
        record.text = cursor.text();
        break;
    case PERF_RECORD_MMAP2:
        record.kind = PerfKind::mapping;
        take_mapping(cursor, header, record);
        break;
    case PERF_RECORD_LOST:
        record.kind = PerfKind::lost;
        cursor.take<uint64_t>(); // event id
        record.lost = cursor.take<uint64_t>();
        break;
    case PERF_RECORD_LOST_SAMPLES:
        record.kind = PerfKind::lost;
        record.lost = cursor.take<uint64_t>();
        break;
    case PERF_RECORD_SWITCH_CPU_WIDE: // who comes next or was before is said by that one's own record
    case PERF_RECORD_SWITCH:
        record.kind = PerfKind::switched;
        record.leaves = (header.misc & PERF_RECORD_MISC_SWITCH_OUT) != 0;
        record.preempted = (header.misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT) != 0;
        break;
    case PERF_RECORD_THROTTLE:
        record.kind = PerfKind::throttled;
        break;
    default:
        return std::nullopt;
    }
    return cursor.ok() ? std::optional(record) : std::nullopt;
}

} // namespace plumb::record
