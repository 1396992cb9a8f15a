#include "trace/file/run_json.h"

#include "trace/file/trace_reader.h"

#include <charconv>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace plumb::trace {

namespace {

constexpr uint64_t kMaxBytes = 16 << 20;
constexpr std::string_view kSchemaPrefix = "plumb-run/";
constexpr int kSchemaVersion = 1;

// Members are taken when they have the expected kind and left at their default otherwise: a run whose run.json was
// damaged is still worth a report.
void take(const nlohmann::json& object, const char* key, std::string& value) {
    if (const auto found = object.find(key); found != object.end() && found->is_string())
        value = found->get<std::string>();
}

void take(const nlohmann::json& object, const char* key, uint64_t& value) {
    if (const auto found = object.find(key); found != object.end() && found->is_number_unsigned())
        value = found->get<uint64_t>();
}

int schema_version(const std::string& schema) {
    int version = -1;
    if (schema.starts_with(kSchemaPrefix))
        std::from_chars(schema.data() + kSchemaPrefix.size(), schema.data() + schema.size(), version);
    return version;
}

} // namespace

std::optional<RunFacts> read_run_json(const std::string& path, std::string& problem) {
    std::string text;
    try {
        const auto source = open_file(path);
        if (source->size() > kMaxBytes) {
            problem = fmt::format("{} is {} bytes long, longer than plumb writes it: ignored", path, source->size());
            return std::nullopt;
        }
        text.resize(source->size());
        text.resize(source->read(0, std::as_writable_bytes(std::span(text))));
    } catch (const Error& error) {
        problem = error.what();
        return std::nullopt;
    }
    return parse_run_json(text, path, problem);
}

std::optional<RunFacts> parse_run_json(const std::string& text, const std::string& name, std::string& problem) {
    const nlohmann::json root = nlohmann::json::parse(text, nullptr, false);
    if (!root.is_object()) {
        problem = fmt::format("{} is not a valid JSON object: ignored", name);
        return std::nullopt;
    }
    std::string schema, state;
    take(root, "schema", schema);
    const int version = schema_version(schema);
    if (version > kSchemaVersion)
        throw NewerFormat(fmt::format("{} is of schema {}, but this plumb knows only {}{}: read the run with the plumb "
                                      "that recorded it or a newer one",
                                      name, schema, kSchemaPrefix, kSchemaVersion));
    if (version < 1) {
        problem = fmt::format("{} has no member \"schema\": \"{}{}\": ignored", name, kSchemaPrefix, kSchemaVersion);
        return std::nullopt;
    }
    RunFacts facts;
    take(root, "state", state);
    facts.finished = state == "finished";
    if (const auto redacted = root.find("redacted"); redacted != root.end() && redacted->is_boolean())
        facts.redacted = redacted->get<bool>();
    if (const auto found = root.find("of_machine"); found != root.end() && found->is_boolean())
        facts.of_machine = found->get<bool>();
    take(root, "host", facts.host);
    take(root, "plumb_version", facts.plumb_version);
    take(root, "start_unix_ns", facts.start_unix_ns);
    take(root, "begin_ns", facts.begin_ns);
    take(root, "end_ns", facts.end_ns);
    if (const auto command = root.find("command"); command != root.end() && command->is_array())
        for (const nlohmann::json& argument : *command)
            facts.command.push_back(argument.is_string() ? argument.get<std::string>() : argument.dump());
    if (const auto status = root.find("exit_status"); status != root.end() && status->is_number_integer())
        facts.exit_status = status->get<int>();
    return facts;
}

} // namespace plumb::trace
