// The records' fields as data: for dumping them, and for the documentation of the format by offset. All of it comes
// from include/plumb/trace_format.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace plumb::trace {

enum class FieldKind {
    number,
    address, // and whatever means nothing but itself: shown in hexadecimal
    flags,   // likewise
    string,  // StringId
    node,    // NodeId
    text,    // characters up to a NUL
    bytes,   // shown as hexadecimal digits
    list,    // 8-byte numbers
    padding, // means nothing
};

struct Field {
    const char* name;
    FieldKind kind;
    uint32_t offset, size; // bytes, from the beginning of the record or header
    bool is_signed;
    const char* what; // may be empty
};

struct RecordDescription {
    uint16_t type; // 0: a header, not a record
    const char* name;
    const char* what;
    uint32_t size; // bytes in this version
    std::span<const Field> fields; // by offset, the RecordHeader left out
    const char* notes; // what else must hold; may be empty
};

struct EnumerationValue {
    uint64_t value;
    const char* name;
    const char* what; // may be empty
};

struct Enumeration { // or a set of flags
    const char* name;
    std::span<const EnumerationValue> values;
};

std::span<const RecordDescription> record_descriptions(); // in the order of trace_format.h
std::span<const RecordDescription> header_descriptions(); // FileHeader, ChunkHeader, RecordHeader
std::span<const Enumeration> enumeration_descriptions();
const RecordDescription* describe_record(uint16_t type);  // null: not known

} // namespace plumb::trace
