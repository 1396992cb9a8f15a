#include "reports/json/accesses.h"

#include <cmath>

namespace plumb {

namespace {

const char* to_string(TouchedData::Kind kind) {
    using Kind = TouchedData::Kind;
    switch (kind) {
    case Kind::variable:
        return "variable";
    case Kind::common_block:
        return "common-block";
    case Kind::stack_variable:
        return "stack-variable";
    case Kind::structure:
        return "structure";
    case Kind::allocation:
        return "allocation";
    case Kind::unknown:
        break;
    }
    return "unknown";
}

Json data_object(const AccessObject& object) {
    const TouchedData& data = object.data;
    Json result = {{"kind", to_string(data.kind)},
                   {"name", data.name},
                   {"share", object.share},
                   {"cause", to_string(object.cause.cause)},
                   {"why", object.cause.why}};
    if (!data.member.empty()) {
        result["member"] = data.member;
        result["member_offset_bytes"] = data.member_offset;
    }
    if (data.start != 0)
        result["offset_bytes"] = data.offset;
    if (!data.structure.empty())
        result["structure"] = data.structure;
    if (!data.type.empty())
        result["type"] = data.type;
    if (!data.declared.empty())
        result["declared"] = data.declared;
    return result;
}

Json kind_object(const model::AccessKind& kind) {
    return {{"bytes", kind.width},   {"load", kind.load},     {"store", kind.store}, {"locked", kind.locked},
            {"string", kind.string}, {"stack", kind.stack}, {"vector", kind.packed}};
}

Json access_object(const AccessLine& line) {
    Json data = Json::array();
    for (const AccessObject& object : line.objects)
        data.push_back(data_object(object));
    Json result = {{"file", line.frame.file},
                   {"line", line.frame.line},
                   {"function", line.frame.function},
                   {"module", line.frame.module},
                   {"access", kind_object(line.kind)},
                   {"data", data},
                   {"instructions", line.instructions},
                   {"threads", line.threads},
                   {"processes", line.processes}};
    if (!line.called_code().empty()) {
        result["leaf_function"] = line.leaf_function;
        result["leaf_module"] = line.leaf_module;
    }
    if (line.trapped())
        result["trapped"] = {{"count", line.counts.hits},
                             {"exact", line.counts.exact},
                             {"line_crossings", line.counts.line_crossings},
                             {"page_crossings", line.counts.page_crossings}};
    if (line.samples > 0)
        result["sampled"] = {{"samples", line.samples},
                             {"unaligned", line.sampled_unaligned},
                             {"line_crossings", line.sampled_line_crossings},
                             {"page_crossings", line.sampled_page_crossings}};
    if (line.priced)
        result["cost"] = {{"cpu_seconds", std::isfinite(line.cost.total_s()) ? line.cost.total_s() : 0.0},
                          {"how", plumb::to_string(line.cost.how)}};
    return result;
}

} // namespace

Json accesses_array(const Report& report) {
    Json accesses = Json::array();
    for (const AccessLine& line : report.accesses)
        accesses.push_back(access_object(line));
    return accesses;
}

} // namespace plumb
