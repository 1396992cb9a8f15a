#include "trace/record_fields.h"

#include "trace/field_list.h"

#include <plumb/trace_format.h>

#include <type_traits>

namespace plumb::trace {

namespace {

#define PLUMB_FIELD(field, kind, what)                                                                       \
    {#field,                                                                                                 \
     FieldKind::kind,                                                                                        \
     offsetof(Record, field),                                                                                \
     sizeof(Record::field),                                                                                  \
     std::is_signed_v<decltype(Record::field)>,                                                              \
     what},

// One array of fields for each struct.
template <class Struct> struct FieldsOf;
#define PLUMB_DEFINE(name)                                                                                   \
    template <> struct FieldsOf<name> {                                                                      \
        using Record = name;                                                                                 \
        static constexpr Field fields[] = {PLUMB_FIELDS_##name(PLUMB_FIELD)};                                \
    };
#define PLUMB_X(number, name, what) PLUMB_DEFINE(name)
PLUMB_DEFINE(FileHeader)
PLUMB_DEFINE(ChunkHeader)
PLUMB_DEFINE(RecordHeader)
PLUMB_TRACE_RECORDS(PLUMB_X)
#undef PLUMB_X

// The fields follow each other without a gap from `begin` to the end of the struct: none is missing, none is wrong.
template <class Struct> constexpr bool covers(size_t begin) {
    size_t at = begin;
    for (const Field& field : FieldsOf<Struct>::fields) {
        if (field.offset != at)
            return false;
        at += field.size;
    }
    return at == sizeof(Struct);
}

static_assert(covers<FileHeader>(0) && covers<ChunkHeader>(0) && covers<RecordHeader>(0));
#define PLUMB_X(number, name, what)                                                                          \
    static_assert(covers<name>(sizeof(RecordHeader)), "field_list.h and trace_format.h disagree about " #name);
PLUMB_TRACE_RECORDS(PLUMB_X)
#undef PLUMB_X

constexpr RecordDescription records[] = {
#define PLUMB_X(number, name, what) {number, #name, what, sizeof(name), FieldsOf<name>::fields},
    PLUMB_TRACE_RECORDS(PLUMB_X)
#undef PLUMB_X
};

constexpr RecordDescription headers[] = {
    {0, "FileHeader", "at offset 0 of every file", sizeof(FileHeader), FieldsOf<FileHeader>::fields},
    {0, "ChunkHeader", "begins every chunk", sizeof(ChunkHeader), FieldsOf<ChunkHeader>::fields},
    {0, "RecordHeader", "begins every record", sizeof(RecordHeader), FieldsOf<RecordHeader>::fields},
};

} // namespace

std::span<const RecordDescription> record_descriptions() { return records; }
std::span<const RecordDescription> header_descriptions() { return headers; }

const RecordDescription* describe_record(uint16_t type) {
    for (const RecordDescription& record : records)
        if (record.type == type)
            return &record;
    return nullptr;
}

} // namespace plumb::trace
