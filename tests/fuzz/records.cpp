#include "records.h"

#include "../unit/synthetic_trace.h"
#include "feed.h"
#include "trace/file/record_fields.h"

namespace plumb::fuzz {

namespace {

constexpr uint32_t kPid = 42;
constexpr size_t kLongestString = 4096;

} // namespace

std::vector<std::byte> trace_of_records(Bytes input, trace::Writer writer) {
    trace::SyntheticTrace file(writer, kPid, "node");
    file.begin_chunk();
    std::vector<std::byte> record;
    for (Feed feed(input); feed.rest().size() >= sizeof(trace::RecordHeader);) {
        auto header = feed.number<trace::RecordHeader>();
        const trace::RecordDescription* known = trace::describe_record(header.type);
        if (!known)
            known = &trace::record_descriptions()[header.type % trace::record_descriptions().size()];
        header.type = known->type;
        size_t bytes = known->size - sizeof header, padded = bytes;
        if (header.type == static_cast<uint16_t>(trace::RecordType::String)) {
            uint32_t length = 0;
            if (feed.rest().size() >= bytes)
                std::memcpy(&length, feed.rest().data() + 4, sizeof length);
            bytes += std::min<size_t>(length, std::min(kLongestString, feed.rest().size() - std::min(feed.rest().size(), bytes)));
            padded = (bytes + 7) / 8 * 8;
        }
        header.size = static_cast<uint16_t>(sizeof header + padded);
        record.assign(header.size, std::byte{});
        std::memcpy(record.data(), &header, sizeof header);
        const Bytes content = feed.bytes(bytes);
        if (!content.empty())
            std::memcpy(record.data() + sizeof header, content.data(), content.size());
        file.add_bytes(record);
    }
    return std::move(file.bytes());
}

std::string records_of_trace(std::span<const std::byte> bytes, size_t most) {
    std::string records;
    trace::TraceReader file("seed", [bytes] { return trace::open_memory(bytes); });
    file.visit({.record =
                    [&](const trace::RawRecord& raw) {
                        const trace::RecordDescription* known = trace::describe_record(raw.header.type);
                        if (!known || raw.bytes.size() < known->size || records.size() + raw.bytes.size() > most)
                            return;
                        size_t bytes = known->size;
                        if (raw.header.type == static_cast<uint16_t>(trace::RecordType::String)) {
                            trace::String text;
                            std::memcpy(&text, raw.bytes.data(), sizeof text);
                            bytes = std::min(raw.bytes.size(), sizeof text + text.length);
                        }
                        records.append(reinterpret_cast<const char*>(raw.bytes.data()), bytes);
                    },
                .chunk = {}});
    return records;
}

} // namespace plumb::fuzz
