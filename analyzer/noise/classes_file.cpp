#include "noise/classes_file.h"

#include "support/error.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>

namespace plumb::noise {

namespace {

using model::NoiseClass;
using model::NoiseDuration;

constexpr const char* kClassesSchema = "plumb-noise/1";
constexpr double kLongestPeriod_s = 1e7, kShortestDuration_s = 1e-9; // a third of a year; a few instructions
constexpr uint32_t kMostNodes = 1u << 24, kMostCpusPerNode = 1u << 14;
constexpr size_t kMostClasses = 1000, kMostListed = 100'000, kMostFileBytes = 64u << 20;

template <class Enum> struct Word {
    std::string_view text;
    Enum value;
};
template <class Enum> Word(const char*, Enum) -> Word<Enum>;
constexpr std::array kShapes{Word{"constant", NoiseDuration::Shape::constant}, Word{"uniform", NoiseDuration::Shape::uniform},
                             Word{"normal", NoiseDuration::Shape::normal}, Word{"exponential", NoiseDuration::Shape::exponential},
                             Word{"measured", NoiseDuration::Shape::measured}};
constexpr std::array kRegularities{Word{"periodic", NoiseClass::Regularity::periodic},
                                   Word{"poisson", NoiseClass::Regularity::poisson}};
constexpr std::array kPhases{Word{"independent", NoiseClass::Phase::independent}, Word{"together", NoiseClass::Phase::together}};
constexpr std::array kScopes{Word{"node", NoiseClass::Scope::node}, Word{"cpu", NoiseClass::Scope::cpu}};

template <class Enum, size_t Count> std::string_view word_of(const std::array<Word<Enum>, Count>& words, Enum value) {
    for (const auto& word : words)
        if (word.value == value)
            return word.text;
    return words.front().text;
}

// The values of one object of the file; `where` names it in errors.
class Values {
  public:
    Values(const nlohmann::json& object, std::string where) : object_(object), where_(std::move(where)) {
        if (!object.is_object())
            throw Error(where_ + " is no JSON object");
    }

    [[noreturn]] void refuse(const char* key, const std::string& why) const {
        throw Error(fmt::format("{}: \"{}\" {}", where_, key, why));
    }

    bool has(const char* key) const { return object_.contains(key); }
    const nlohmann::json& at(const char* key) const { return object_.at(key); }
    const std::string& where() const { return where_; }

    void expect_keys(const std::set<std::string_view>& known) const {
        for (const auto& [key, value] : object_.items())
            if (!known.contains(key))
                throw Error(fmt::format("{}: there is no key \"{}\"; the keys are {}", where_, key, fmt::join(known, ", ")));
    }

    std::string text(const char* key) const {
        if (!has(key))
            return {};
        if (!at(key).is_string())
            refuse(key, "is no text");
        return at(key).get<std::string>();
    }

    double number(const char* key, double usual, double least, double most) const {
        if (!has(key))
            return usual;
        const double value = at(key).is_number() ? at(key).get<double>() : NAN;
        if (!(value >= least && value <= most))
            refuse(key, fmt::format("is {}: a number from {:g} to {:g} is needed", at(key).dump(), least, most));
        return value;
    }

    uint32_t count(const char* key, uint32_t most) const {
        const double value = number(key, 0, 0, most);
        if (value != std::floor(value))
            refuse(key, fmt::format("is {}: a whole number is needed", at(key).dump()));
        return static_cast<uint32_t>(value);
    }

    template <class Value, class Take> std::vector<Value> list(const char* key, Take take) const {
        std::vector<Value> values;
        if (!has(key))
            return values;
        if (!at(key).is_array() || at(key).size() > kMostListed)
            refuse(key, fmt::format("is no list of at most {} values", kMostListed));
        for (const nlohmann::json& value : at(key))
            values.push_back(take(value));
        return values;
    }

    template <class Value> std::vector<Value> whole_numbers(const char* key, uint32_t most) const {
        auto values = list<Value>(key, [&](const nlohmann::json& value) {
            if (!value.is_number_integer() || value.get<int64_t>() < 0 || value.get<int64_t>() > most)
                refuse(key, fmt::format("holds {}: whole numbers from 0 to {} are needed", value.dump(), most));
            return static_cast<Value>(value.get<int64_t>());
        });
        std::ranges::sort(values);
        values.erase(std::unique(values.begin(), values.end()), values.end());
        return values;
    }

    template <class Enum, size_t Count> Enum word(const char* key, const std::array<Word<Enum>, Count>& words) const {
        if (!has(key))
            return words.front().value;
        const std::string value = text(key);
        std::vector<std::string_view> known;
        for (const auto& word : words) {
            if (word.text == value)
                return word.value;
            known.push_back(word.text);
        }
        refuse(key, fmt::format("is \"{}\": one of {} is needed", value, fmt::join(known, ", ")));
    }

  private:
    const nlohmann::json& object_;
    std::string where_;
};

NoiseDuration duration_of(const Values& values) {
    NoiseDuration duration;
    const double longest_ms = kLongestPeriod_s * 1e3;
    duration.shape = values.word("duration_shape", kShapes);
    duration.quantiles_s = values.list<double>("duration_quantiles_ms", [&](const nlohmann::json& value) {
        if (!value.is_number() || !(value.get<double>() >= 0 && value.get<double>() <= longest_ms))
            values.refuse("duration_quantiles_ms", fmt::format("holds {}: numbers from 0 to {} are needed", value.dump(), longest_ms));
        return value.get<double>() * 1e-3;
    });
    const bool is_measured = duration.shape == NoiseDuration::Shape::measured;
    if (is_measured != !duration.quantiles_s.empty())
        values.refuse("duration_quantiles_ms", "and \"duration_shape\": \"measured\" go together: one of them is missing");
    if (!std::ranges::is_sorted(duration.quantiles_s))
        values.refuse("duration_quantiles_ms", "does not ascend");
    if (!values.has("duration_ms"))
        values.refuse("duration_ms", "is missing");
    duration.mean_s = values.number("duration_ms", 0, kShortestDuration_s * 1e3, longest_ms) * 1e-3;
    duration.spread_s = values.number("duration_spread_ms", 0, 0, longest_ms) * 1e-3;
    return duration;
}

double frequency_of(const Values& values) {
    if (values.has("period_ms") == values.has("frequency_hz"))
        values.refuse("period_ms", "or \"frequency_hz\" is needed, one of them");
    if (values.has("period_ms"))
        return 1e3 / values.number("period_ms", 0, 1e-3, kLongestPeriod_s * 1e3);
    return values.number("frequency_hz", 0, 1 / kLongestPeriod_s, 1e6);
}

model::NoiseNodes nodes_of(const Values& values) {
    if (!values.has("nodes"))
        return {};
    const Values nodes(values.at("nodes"), values.where() + ", \"nodes\"");
    nodes.expect_keys({"every", "offsets"});
    model::NoiseNodes result{nodes.count("every", kMostNodes), nodes.whole_numbers<uint32_t>("offsets", kMostNodes)};
    if (result.offsets.empty())
        nodes.refuse("offsets", "is missing or empty: leave \"nodes\" out where all are meant");
    if (result.every && result.offsets.back() >= result.every)
        nodes.refuse("offsets", fmt::format("holds {}, which is not below \"every\", {}", result.offsets.back(), result.every));
    return result;
}

NoiseClass class_of(const Values& values) {
    static const std::set<std::string_view> known{
        "name", "group", "period_ms", "frequency_hz", "duration_ms", "duration_spread_ms", "duration_quantiles_ms",
        "duration_shape", "regularity", "jitter", "phase", "scope", "cpus", "nodes", "fitted", "events", "confidence", "loss_share"};
    values.expect_keys(known);
    NoiseClass result;
    result.name = values.text("name");
    if (result.name.empty())
        values.refuse("name", "is missing or empty");
    result.group = values.text("group");
    result.frequency_hz = frequency_of(values);
    result.duration = duration_of(values);
    result.regularity = values.word("regularity", kRegularities);
    result.jitter = values.number("jitter", 0, 0, 1);
    result.phase = values.word("phase", kPhases);
    result.scope = values.word("scope", kScopes);
    result.cpus = values.whole_numbers<int>("cpus", kMostCpusPerNode);
    result.nodes = nodes_of(values);
    result.fitted = values.list<std::string>("fitted", [&](const nlohmann::json& value) {
        if (!value.is_string() || !known.contains(value.get<std::string>()))
            values.refuse("fitted", fmt::format("holds {}, which is no key of a class", value.dump()));
        return value.get<std::string>();
    });
    result.events = static_cast<uint64_t>(values.number("events", 0, 0, 1e18));
    result.confidence = values.number("confidence", 0, 0, 1);
    result.loss_share = values.number("loss_share", 0, 0, 1);
    if (result.frequency_hz * result.duration.mean_s >= 1)
        values.refuse("duration_ms", fmt::format("is {} ms every {} ms: a CPU that it takes would never be free",
                                                 result.duration.mean_s * 1e3, result.mean_period_s() * 1e3));
    return result;
}

} // namespace

model::NoiseMachine parse_classes(const std::string& text, const std::string& path) {
    const nlohmann::json file = nlohmann::json::parse(text, nullptr, false);
    if (file.is_discarded())
        throw Error(path + " holds no valid JSON");
    const Values values(file, path);
    if (values.text("schema") != kClassesSchema)
        values.refuse("schema", fmt::format("is {}: \"{}\" is needed", values.has("schema") ? values.at("schema").dump() : "missing",
                                            kClassesSchema));
    values.expect_keys({"schema", "name", "nodes", "cpus_per_node", "classes"});
    model::NoiseMachine machine{.name = values.text("name"),
                                .nodes = values.count("nodes", kMostNodes),
                                .cpus_per_node = values.count("cpus_per_node", kMostCpusPerNode),
                                .classes = {}};
    if (!values.has("classes") || !values.at("classes").is_array() || values.at("classes").size() > kMostClasses)
        values.refuse("classes", fmt::format("is missing, or no list of at most {} classes", kMostClasses));
    std::set<std::string> names;
    for (const nlohmann::json& entry : values.at("classes")) {
        const std::string name = entry.is_object() && entry.contains("name") ? entry["name"].dump() : "";
        const Values of_class(entry, fmt::format("{}, class {} {}", path, machine.classes.size() + 1, name));
        machine.classes.push_back(class_of(of_class));
        if (!names.insert(machine.classes.back().name).second)
            of_class.refuse("name", "is that of another class, too");
    }
    return machine;
}

model::NoiseMachine read_classes_file(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file)
        throw Error(fmt::format("cannot read the noise classes from {}: {}", path, std::strerror(errno)));
    std::string text;
    for (std::array<char, 1 << 16> part{}; file.read(part.data(), part.size()), file.gcount() > 0;) {
        text.append(part.data(), static_cast<size_t>(file.gcount()));
        if (text.size() > kMostFileBytes)
            throw Error(fmt::format("cannot read the noise classes from {}: it is longer than {} MiB", path, kMostFileBytes >> 20));
    }
    if (file.bad())
        throw Error(fmt::format("cannot read the noise classes from {}: {}", path, std::strerror(errno)));
    return parse_classes(text, path);
}

std::string classes_text(const model::NoiseMachine& machine) {
    nlohmann::ordered_json file{{"schema", kClassesSchema}};
    if (!machine.name.empty())
        file["name"] = machine.name;
    if (machine.nodes)
        file["nodes"] = machine.nodes;
    if (machine.cpus_per_node)
        file["cpus_per_node"] = machine.cpus_per_node;
    file["classes"] = nlohmann::ordered_json::array();
    for (const NoiseClass& one : machine.classes) {
        nlohmann::ordered_json entry{{"name", one.name}};
        if (!one.group.empty())
            entry["group"] = one.group;
        entry["period_ms"] = one.mean_period_s() * 1e3;
        entry["duration_ms"] = one.duration.mean_s * 1e3;
        entry["duration_shape"] = word_of(kShapes, one.duration.shape);
        if (one.duration.spread_s > 0)
            entry["duration_spread_ms"] = one.duration.spread_s * 1e3;
        for (const double quantile_s : one.duration.quantiles_s)
            entry["duration_quantiles_ms"].push_back(quantile_s * 1e3);
        entry["regularity"] = word_of(kRegularities, one.regularity);
        if (one.jitter > 0)
            entry["jitter"] = one.jitter;
        entry["phase"] = word_of(kPhases, one.phase);
        entry["scope"] = word_of(kScopes, one.scope);
        if (!one.cpus.empty())
            entry["cpus"] = one.cpus;
        if (!one.nodes.offsets.empty())
            entry["nodes"] = {{"every", one.nodes.every}, {"offsets", one.nodes.offsets}};
        if (!one.fitted.empty())
            entry["fitted"] = one.fitted;
        if (one.events) {
            entry["events"] = one.events;
            entry["confidence"] = one.confidence;
            entry["loss_share"] = one.loss_share;
        }
        file["classes"].push_back(std::move(entry));
    }
    return file.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

} // namespace plumb::noise
