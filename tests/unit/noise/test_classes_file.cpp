#include "noise/classes_file.h"
#include "support/error.h"

#include <catch2/catch.hpp>
#include <string>

using namespace plumb;
using Catch::Contains;


namespace {

std::string file_of(const std::string& classes) {
    return R"({"schema": "plumb-noise/1", "nodes": 1024, "cpus_per_node": 4, "classes": [)" + classes + "]}";
}

std::string refusal(const std::string& text) {
    try {
        noise::parse_classes(text, "c.json");
        return "";
    } catch (const Error& error) {
        return error.what();
    }
}

} // namespace

TEST_CASE("a classes file says what a class is, and is written as it was read") {
    const auto machine = noise::parse_classes(
        file_of(R"({"name": "heartbeat", "group": "kernel", "period_ms": 125, "duration_ms": 0.64, "fitted": ["scope"]},
                   {"name": "quorum", "frequency_hz": 0.5, "duration_ms": 20, "duration_shape": "exponential",
                    "regularity": "poisson", "phase": "together", "scope": "cpu", "cpus": [3, 1],
                    "nodes": {"every": 32, "offsets": [31, 0]}},
                   {"name": "odd", "period_ms": 10, "duration_ms": 1, "duration_shape": "measured",
                    "duration_quantiles_ms": [0.5, 1, 1.5]})"),
        "c.json");
    REQUIRE(machine.classes.size() == 3);
    CHECK(machine.nodes == 1024);
    const model::NoiseClass& first = machine.classes[0];
    CHECK(first.frequency_hz == Approx(8.0));
    CHECK(first.duration.mean_s == Approx(0.64e-3));
    CHECK(first.nodes.contains(17));
    CHECK(first.fitted == std::vector<std::string>{"scope"});
    const model::NoiseClass& second = machine.classes[1];
    CHECK(second.cpus == std::vector<int>{1, 3});
    CHECK(second.nodes.contains(63));
    CHECK(second.nodes.contains(32));
    CHECK_FALSE(second.nodes.contains(33));
    CHECK(second.scope == model::NoiseClass::Scope::cpu);
    CHECK(machine.classes[2].duration.quantiles_s.size() == 3);

    const std::string text = noise::classes_text(machine);
    CHECK(noise::classes_text(noise::parse_classes(text, "again")) == text);
}

TEST_CASE("values of a classes file that cannot be meant are refused in a sentence") {
    const auto one = [](const std::string& keys) { return refusal(file_of(R"({"name": "a")" + keys + "}")); };
    CHECK_THAT(refusal("{"), Contains("c.json holds no valid JSON"));
    CHECK_THAT(refusal("[]"), Contains("c.json is no JSON object"));
    CHECK_THAT(refusal(R"({"schema": "plumb-run/1"})"), Contains("\"plumb-noise/1\" is needed"));
    CHECK_THAT(one(R"(, "period_ms": 10)"), Contains("\"duration_ms\" is missing"));
    CHECK_THAT(one(R"(, "duration_ms": 10)"), Contains("\"period_ms\" or \"frequency_hz\" is needed"));
    CHECK_THAT(one(R"(, "period_ms": -10, "duration_ms": 1)"), Contains("class 1 \"a\": \"period_ms\" is -10"));
    CHECK_THAT(one(R"(, "period_ms": 10, "duration_ms": 10)"), Contains("would never be free"));
    CHECK_THAT(one(R"(, "period_ms": 10, "duration_ms": "1")"), Contains("\"duration_ms\" is \"1\": a number"));
    CHECK_THAT(one(R"(, "period_ms": 10, "duration_ms": 1, "phase": "late")"), Contains("one of independent, together"));
    CHECK_THAT(one(R"(, "period_ms": 10, "duration_ms": 1, "cpus": [-1])"), Contains("\"cpus\" holds -1"));
    CHECK_THAT(one(R"(, "period_ms": 10, "duration_ms": 1, "duraton": 1)"), Contains("there is no key \"duraton\""));
    CHECK_THAT(one(R"(, "period_ms": 10, "duration_ms": 1, "nodes": {"every": 32, "offsets": [32]})"),
               Contains("not below \"every\""));
    CHECK_THAT(refusal(file_of(R"({"name": "a", "period_ms": 9, "duration_ms": 1}, {"name": "a", "period_ms": 9, "duration_ms": 1})")),
               Contains("is that of another class"));
}
