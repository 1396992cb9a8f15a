// Raw records as lines of text or JSON.
#pragma once

#include "trace/file/record_fields.h"
#include "trace/file/string_table.h"

#include <cstddef>
#include <span>
#include <string>

namespace plumb::trace {

struct RecordLine {
    uint64_t offset; // in the file
    uint16_t type;   // of the record; 0 for headers
    const RecordDescription* description; // null: a type that this version does not know
    std::span<const std::byte> bytes;
};

// "1234 ThreadStart tid=7 time_ns=99 ...": fields that an older writer did not have are left out, and so is padding.
// Ids of texts are followed by the text, with what is not printable escaped.
std::string record_as_text(const RecordLine& line, const StringTable& strings);

// The same as one JSON object; ids of texts get a second member, <field>_text. Addresses are strings ("0x...").
std::string record_as_json(const std::string& file, const RecordLine& line, const StringTable& strings);

// The documentation of the format: every header and record with its fields by offset.
std::string describe_format();

} // namespace plumb::trace
