// The records' fields as data: for dumping them, and for the documentation of the format by offset.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace plumb::trace {

enum class FieldKind {
    number,
    address, // shown in hexadecimal
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
};

std::span<const RecordDescription> record_descriptions(); // in the order of trace_format.h
std::span<const RecordDescription> header_descriptions(); // FileHeader, ChunkHeader, RecordHeader
const RecordDescription* describe_record(uint16_t type);  // null: not known

} // namespace plumb::trace
