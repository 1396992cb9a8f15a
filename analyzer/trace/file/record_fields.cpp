#include "trace/file/record_fields.h"

#include <plumb/trace_format.h>

namespace plumb::trace {

namespace {

#include "trace/record_catalogue.inc" // made by include/plumb/trace_format.py

} // namespace

std::span<const RecordDescription> record_descriptions() { return records; }
std::span<const RecordDescription> header_descriptions() { return headers; }
std::span<const Enumeration> enumeration_descriptions() { return enumerations; }

const RecordDescription* describe_record(uint16_t type) {
    for (const RecordDescription& record : records)
        if (record.type == type)
            return &record;
    return nullptr;
}

} // namespace plumb::trace
