// The records of a file as the structs of trace_format.h, whatever minor version wrote them.
#pragma once

#include "trace/file/trace_reader.h"

#include <algorithm>
#include <cstring>
#include <string_view>

namespace plumb::trace {

// A record as `Record`: fields that an older writer did not know are zero, fields of a newer one are left out.
template <class Record> Record view(const RawRecord& raw) {
    Record record = {};
    std::memcpy(&record, raw.bytes.data(), std::min(sizeof record, raw.bytes.size()));
    return record;
}

// Text of a String record, cut where the record ends. Lives as long as the raw record.
inline std::string_view text_of(const RawRecord& raw) {
    const size_t room = raw.bytes.size() > sizeof(String) ? raw.bytes.size() - sizeof(String) : 0;
    if (room == 0)
        return {};
    return {reinterpret_cast<const char*>(raw.bytes.data()) + sizeof(String),
            std::min<size_t>(room, view<String>(raw).length)};
}

// Calls `visitor(const Record&)` for each record whose type it takes; for String `visitor(const String&,
// std::string_view)`. Returns how many records had a type that this version does not know.
template <class Visitor> uint64_t for_each_record(TraceReader& file, Visitor&& visitor) {
    uint64_t unknown = 0;
    const auto record = [&](const RawRecord& raw) {
        switch (static_cast<RecordType>(raw.header.type)) {
#define PLUMB_X(number, name, what)                                                                          \
    case RecordType::name:                                                                                   \
        if constexpr (requires(const name& taken) { visitor(taken); })                                       \
            visitor(view<name>(raw));                                                                        \
        else if constexpr (requires(const name& taken) { visitor(taken, std::string_view()); })              \
            visitor(view<name>(raw), text_of(raw));                                                          \
        break;
            PLUMB_TRACE_RECORDS(PLUMB_X)
#undef PLUMB_X
        default:
            ++unknown;
        }
    };
    file.visit({.record = record, .chunk = {}});
    return unknown;
}

// Makes one visitor of several lambdas.
template <class... Visitors> struct Overloaded : Visitors... {
    using Visitors::operator()...;
};
template <class... Visitors> Overloaded(Visitors...) -> Overloaded<Visitors...>;

} // namespace plumb::trace
