#include "trace/file/record_text.h"

#include "trace/file/records.h"

#include <cstring>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace plumb::trace {

namespace {

using Json = nlohmann::ordered_json;

uint64_t number_at(std::span<const std::byte> bytes, uint32_t offset, uint32_t size) {
    uint64_t value = 0;
    std::memcpy(&value, bytes.data() + offset, std::min<size_t>(size, sizeof value));
    return value;
}

int64_t signed_at(std::span<const std::byte> bytes, const Field& field) {
    const int unused_bits = 64 - 8 * static_cast<int>(std::min<uint32_t>(field.size, 8));
    return static_cast<int64_t>(number_at(bytes, field.offset, field.size) << unused_bits) >> unused_bits;
}

std::string hex_digits(std::span<const std::byte> bytes) {
    std::string digits;
    for (const std::byte byte : bytes)
        digits += fmt::format("{:02x}", static_cast<unsigned>(byte));
    return digits;
}

std::string_view until_nul(std::span<const std::byte> bytes) {
    const auto* text = reinterpret_cast<const char*>(bytes.data());
    return {text, strnlen(text, bytes.size())};
}

Json value_of(const Field& field, std::span<const std::byte> record) {
    const auto bytes = record.subspan(field.offset, field.size);
    switch (field.kind) {
    case FieldKind::address:
    case FieldKind::flags:
        return fmt::format("{:#x}", number_at(record, field.offset, field.size));
    case FieldKind::text:
        return until_nul(bytes);
    case FieldKind::bytes:
        return hex_digits(bytes);
    case FieldKind::list: {
        Json list = Json::array();
        for (uint32_t at = 0; at + 8 <= field.size; at += 8)
            list.push_back(number_at(record, field.offset + at, 8));
        return list;
    }
    default:
        if (field.is_signed)
            return signed_at(record, field);
        return number_at(record, field.offset, field.size);
    }
}

std::string as_json_text(const Json& value) { return value.dump(-1, ' ', true, Json::error_handler_t::replace); }

// Calls `take(name, value, text)` for what there is to show; `text` is null but for ids of texts.
template <class Take> void for_each_field(const RecordLine& line, const StringTable& strings, Take take) {
    const bool is_record = line.type != 0;
    if (is_record)
        take("tid", Json(number_at(line.bytes, offsetof(RecordHeader, tid), 4)), nullptr);
    if (!line.description) {
        take("bytes", Json(hex_digits(line.bytes.subspan(sizeof(RecordHeader)))), nullptr);
        return;
    }
    for (const Field& field : line.description->fields) {
        if (field.kind == FieldKind::padding || field.offset + field.size > line.bytes.size())
            continue;
        if (field.kind == FieldKind::string && strings.contains(number_at(line.bytes, field.offset, field.size))) {
            const std::string text(strings.text(number_at(line.bytes, field.offset, field.size)));
            take(field.name, value_of(field, line.bytes), &text);
        } else {
            take(field.name, value_of(field, line.bytes), nullptr);
        }
    }
    if (line.type == static_cast<uint16_t>(RecordType::String))
        take("text", Json(std::string(text_of({line.offset, {}, line.bytes}))), nullptr);
}

// Characters from the target, which are quoted and escaped.
bool holds_text(const RecordLine& line, std::string_view field) {
    if (line.description)
        for (const Field& known : line.description->fields)
            if (field == known.name)
                return known.kind == FieldKind::text;
    return line.description && field == "text";
}

std::string name_of(const RecordLine& line) {
    return line.description ? line.description->name : fmt::format("Unknown{}", line.type);
}

} // namespace

std::string record_as_text(const RecordLine& line, const StringTable& strings) {
    std::string text = fmt::format("{} {}", line.offset, name_of(line));
    for_each_field(line, strings, [&](const char* name, const Json& value, const std::string* named) {
        const bool hexadecimal = value.is_string() && !holds_text(line, name);
        text += fmt::format(" {}={}", name, hexadecimal ? value.get<std::string>() : as_json_text(value));
        if (named)
            text += fmt::format(" {}", as_json_text(*named));
    });
    return text;
}

std::string record_as_json(const std::string& file, const RecordLine& line, const StringTable& strings) {
    Json object = {{"file", file}, {"offset", line.offset}, {"type", name_of(line)}};
    for_each_field(line, strings, [&](const char* name, const Json& value, const std::string* named) {
        object[name] = value;
        if (named)
            object[std::string(name) + "_text"] = *named;
    });
    return as_json_text(object);
}

std::string describe_format() {
    std::string text =
        fmt::format("Trace format {}.{}: FileHeader, then chunks of ChunkHeader and records, native little endian.\n"
                    "Records grow at their end only; readers skip types they do not know.\n",
                    kMajor, kMinor);
    const auto add = [&](const RecordDescription& record) {
        text += record.type == 0 ? fmt::format("\n{}: {} bytes, {}\n", record.name, record.size, record.what)
                                 : fmt::format("\n{} (type {}): {} bytes, {}\n", record.name, record.type, record.size,
                                               record.what);
        if (*record.notes)
            text += fmt::format("{}\n", record.notes);
        text += "  offset  size  field\n";
        for (const Field& field : record.fields)
            text += fmt::format("  {:>6}  {:>4}  {}{}{}\n", field.offset, field.size, field.name,
                                *field.what ? ": " : "", field.what);
    };
    for (const RecordDescription& header : header_descriptions())
        add(header);
    for (const RecordDescription& record : record_descriptions())
        add(record);
    text += "\nValues of fields whose description begins with one of these names:\n";
    for (const Enumeration& enumeration : enumeration_descriptions()) {
        text += fmt::format("\n{}\n", enumeration.name);
        for (const EnumerationValue& value : enumeration.values)
            text += fmt::format("  {:>#10x}  {}{}{}\n", value.value, value.name, *value.what ? ": " : "", value.what);
    }
    return text;
}

} // namespace plumb::trace
