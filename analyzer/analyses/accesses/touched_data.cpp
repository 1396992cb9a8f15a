#include "analyses/accesses/touched_data.h"

#include "analyses/lines/line_shares.h"

#include <fmt/format.h>

namespace plumb {

namespace {

using Kind = TouchedData::Kind;

// "cells[3].weight" -> "cells[].weight", "a(3,2)" -> "a".
std::string without_indexes(const std::string& member) {
    std::string text;
    int depth = 0;
    for (const char letter : member) {
        depth -= (letter == ']' || letter == ')') && depth > 0;
        if (depth == 0)
            text += letter;
        depth += letter == '[' || letter == '(';
    }
    while (text.size() > 2 && (text.ends_with("[]") || text.ends_with("()")))
        text.resize(text.size() - 2);
    return text.starts_with("[].") ? text.substr(3) : text; // of an array that is the variable itself
}

Kind kind_of(model::DataName::Kind kind) {
    switch (kind) {
    case model::DataName::Kind::common_block:
        return Kind::common_block;
    case model::DataName::Kind::stack_variable:
        return Kind::stack_variable;
    case model::DataName::Kind::pointed_structure:
        return Kind::structure;
    case model::DataName::Kind::variable:
        break;
    }
    return Kind::variable;
}

TouchedData from_name(const model::DataName& name, uint64_t address) {
    TouchedData data;
    data.kind = kind_of(name.kind);
    data.name = name.name;
    data.member = without_indexes(name.member);
    if (data.kind == Kind::variable || data.kind == Kind::stack_variable)
        data.structure = name.holder;
    data.type = name.type;
    if (!name.file.empty())
        data.declared = name.line ? fmt::format("{}:{}", name.file, name.line) : name.file;
    data.start = name.offset <= address ? address - name.offset : 0;
    data.offset = name.offset;
    data.bytes = name.size;
    data.member_offset = name.member_offset;
    data.member_alignment = name.member_alignment;
    data.packed = name.packed;
    return data;
}

// A block of the heap is known by who allocated it; what lies in it may be known by type.
TouchedData from_block(model::CallPaths& paths, size_t process, const model::UnalignedAddress& access,
                       const std::optional<model::DataName>& structure) {
    TouchedData data;
    if (structure) {
        data = from_name(*structure, access.address);
        data.structure = structure->name;
    }
    data.kind = Kind::allocation;
    data.name.clear();
    if (access.block_path != 0) {
        const model::SourceFrame frame = paths.user_frame(process, access.block_path);
        data.name = place_name({.file = frame.file, .function = frame.function, .module = frame.module,
                                .line = frame.line, .share = 0, .inlined_from = ""});
    }
    data.start = access.block_start;
    data.offset = access.block_start != 0 && access.address >= access.block_start ? access.address - access.block_start
                                                                                   : 0;
    data.bytes = access.block_bytes;
    return data;
}

} // namespace

const char* TouchedData::subject_kind() const {
    if (name.empty())
        return "call-site";
    return kind == Kind::allocation ? "allocation" : "variable";
}

TouchedData touched_data(model::CallPaths& paths, size_t process, const model::UnalignedSite& site,
                         const model::UnalignedAddress& access) {
    const model::DataAccess asked{.address = access.address,
                                  .width = site.kind.width,
                                  .instruction = site.address,
                                  .code = site.code,
                                  .base_value = access.base_value,
                                  .frame_address = access.frame_address,
                                  .block_start = access.block_start,
                                  .block_bytes = access.block_bytes};
    using Block = model::UnalignedAddress::Block;
    if (access.block == Block::heap || (access.block == Block::mapping && access.block_path != 0))
        return from_block(paths, process, access, paths.pointed_at(process, asked));
    if (access.block == Block::stack) {
        if (const auto name = paths.local_at(process, asked))
            return from_name(*name, access.address);
    } else if (const auto name = paths.static_at(process, asked)) {
        return from_name(*name, access.address);
    }
    if (const auto name = paths.pointed_at(process, asked))
        return from_name(*name, access.address);
    return {};
}

TouchedData touched_static(model::CallPaths& paths, size_t process, const model::SampledAccess& access) {
    const auto name = paths.static_at(
        process, {.address = access.last_address, .width = access.kind.width, .instruction = access.address, .code = {}});
    return name ? from_name(*name, access.last_address) : TouchedData{};
}

} // namespace plumb
