// Groups are tested over real known work; a source that is made up counts it right, or as it is planted to.
#include "record/counters/perf_counters.h"
#include "record/counters/self_test.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <csignal>
#include <functional>
#include <map>
#include <sched.h>
#include <set>
#include <sys/wait.h>
#include <unistd.h>

using namespace plumb::record;
using Catch::Matchers::Contains;

namespace {

using Count = std::function<CounterValue()>;

struct MadeUp : CounterSource {
    std::map<std::string, Count> counts;       // of events that it knows
    std::set<std::string> unopened, unstarted; // of them
    size_t most = 4;                           // events that start together

    struct Group : CounterGroup {
        std::vector<Count> counts;
        std::string why;
        std::string start() override { return why; }
        void stop() override {}
        std::optional<std::vector<CounterValue>> read() override {
            std::vector<CounterValue> values;
            for (const Count& count : counts)
                values.push_back(count());
            return values;
        }
    };
    std::string name() const override { return "made up"; }
    bool knows(const CounterEvent& event) const override { return counts.contains(event.name); }
    OpenedGroup open(std::span<const CounterEvent* const> events, pid_t) override {
        auto group = std::make_unique<Group>();
        for (size_t i = 0; i < events.size(); ++i) {
            if (unopened.contains(events[i]->name))
                return {nullptr, i, "no such event"};
            if (unstarted.contains(events[i]->name) || events.size() > most)
                group->why = "no counter is free";
            group->counts.push_back(counts.at(events[i]->name));
        }
        return {std::move(group), 0, ""};
    }
};

Count fixed(double count) {
    return [count] { return CounterValue{static_cast<int64_t>(count), {}, {}}; };
}

double instructions() { return static_cast<double>(known_thread_work(true).instructions + known_thread_work(false).instructions); }

std::vector<std::string> names(const TestedGroup& group) {
    std::vector<std::string> names;
    for (const CounterEvent* event : group.events)
        names.emplace_back(event->name);
    return names;
}

std::string why(const TestedGroup& group, const std::string& event) {
    const auto found = std::ranges::find(group.refused, event, &RefusedEvent::event);
    return found == group.refused.end() ? "" : found->why;
}

CounterGroupPlan plan_of(const std::string& name) {
    const auto plans = hardware_groups();
    return *std::ranges::find(plans, name, [](const CounterGroupPlan& plan) { return std::string(plan.name); });
}

MadeUp right_source() {
    MadeUp source;
    source.counts["cycles"] = fixed(instructions() / 2);
    source.counts["instructions"] = fixed(instructions() + 20'000);
    source.counts["data cache misses"] = fixed(1.1 * static_cast<double>(known_scattered_loads()));
    source.counts["last level misses"] = fixed(static_cast<double>(known_scattered_loads()));
    return source;
}

} // namespace

TEST_CASE("events that count right are all believed") {
    MadeUp source = right_source();
    const TestedGroup group = test_group(source, plan_of("caches"), {0, 0});
    CHECK(names(group) == std::vector<std::string>{"cycles", "instructions", "data cache misses", "last level misses"});
    CHECK(group.refused.empty());
    CHECK(group.is_lasting);
}

TEST_CASE("each planted fault is refused by name, and the others are kept") {
    MadeUp source = right_source();
    SECTION("sixteen times too high") {
        source.counts["data cache misses"] = fixed(16 * static_cast<double>(known_scattered_loads()));
        const TestedGroup group = test_group(source, plan_of("caches"), {0, 0});
        CHECK_THAT(why(group, "data cache misses"), Contains("16 times"));
        CHECK(names(group) == std::vector<std::string>{"cycles", "instructions", "last level misses"});
    }
    SECTION("cannot be opened") {
        source.unopened.insert("instructions");
        const TestedGroup group = test_group(source, plan_of("caches"), {0, 0});
        CHECK(why(group, "instructions") == "no such event");
        CHECK(group.events.size() == 3);
    }
    SECTION("cannot be started") {
        source.unstarted.insert("data cache misses");
        const TestedGroup group = test_group(source, plan_of("caches"), {0, 0});
        CHECK(why(group, "data cache misses") == "no counter is free");
        CHECK(group.events.size() == 3);
    }
    SECTION("more than there are counters for") {
        source.most = 3;
        const TestedGroup group = test_group(source, plan_of("caches"), {0, 0});
        CHECK(why(group, "last level misses") == "no counter is free");
        CHECK(group.events.size() == 3);
    }
    SECTION("shares its counter: refused now, and tried again the next time") {
        source.counts["instructions"] = [] { return CounterValue{static_cast<int64_t>(0.4 * instructions()), 1000, 400}; };
        const TestedGroup group = test_group(source, plan_of("caches"), {0, 0});
        CHECK_THAT(why(group, "instructions"), Contains("40 %"));
        CHECK_FALSE(group.is_lasting);
    }
    SECTION("always zero, as emulators count stalls") {
        source.counts["stalled cycles"] = fixed(0);
        CHECK_THAT(why(test_group(source, plan_of("stalls"), {0, 0}), "stalled cycles"), Contains("nothing"));
    }
    SECTION("one of two threads") {
        source.counts["instructions"] = fixed(static_cast<double>(known_thread_work(true).instructions));
        CHECK_THAT(why(test_group(source, plan_of("work"), {0, 0}), "instructions"), Contains("one of two threads"));
    }
}

TEST_CASE("known work that is killed is no work, and ends nobody else") {
    KnownWork work(0, 0, false);
    REQUIRE(work.works());
    kill(work.pid(), SIGKILL);
    while (kill(work.pid(), 0) == 0 && waitid(P_PID, static_cast<id_t>(work.pid()), nullptr, WEXITED | WNOWAIT) != 0) {}
    CHECK_FALSE(work.run());
}

TEST_CASE("what the kernel counts is right here") {
    PerfSource source;
    cpu_set_t allowed;
    REQUIRE(sched_getaffinity(0, sizeof allowed, &allowed) == 0);
    int first = 0, last = 0;
    for (int cpu = CPU_SETSIZE - 1; cpu >= 0; --cpu)
        if (CPU_ISSET(cpu, &allowed)) {
            first = cpu;
            last = last ? last : cpu;
        }
    const TestedGroup group = test_group(source, software_group(), {first, last});
    if (!why(group, "CPU clock").empty()) {
        WARN("perf events do not work here: " << why(group, "CPU clock"));
        return;
    }
    INFO(format_groups({group}));
    const std::vector<std::string> believed = names(group);
    CHECK(std::ranges::find(believed, "page faults") != believed.end());
    for (const RefusedEvent& refused : group.refused) // only for lack of the right to see the kernel
        CHECK_THAT(refused.why, Contains("nothing") || Contains("Permission"));
}

TEST_CASE("tested groups are kept as text") {
    MadeUp source = right_source();
    source.unopened.insert("last level misses");
    const std::vector<TestedGroup> groups{test_group(source, plan_of("caches"), {0, 0}), test_group(source, plan_of("work"), {0, 0})};
    const std::string text = format_groups(groups);
    const std::vector<TestedGroup> read = parse_groups(text);
    REQUIRE(read.size() == 2);
    CHECK(format_groups(read) == text);
    CHECK(names(read[0]) == names(groups[0]));
    CHECK(why(read[0], "last level misses") == "no such event");
    CHECK(parse_groups("event\tcycles\n").empty());
    CHECK(parse_groups("group\tcaches\nevent\tno such event\n").empty());
    CHECK(parse_groups("group\tcaches\nrefused\tcycles\n").empty());
    CHECK(parse_groups("nonsense").empty());
}
