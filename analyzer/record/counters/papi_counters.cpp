#include "record/counters/papi_counters.h"

#include <fmt/format.h>

namespace plumb::record {

namespace {

std::string refusal(const PapiLibrary& library, const char* step, int result) {
    return fmt::format("{}: {} ({})", step, library.PAPI_strerror(result), result);
}

class PapiGroup : public CounterGroup {
  public:
    PapiGroup(const PapiLibrary& library, int set, size_t events) : library_(library), set_(set), sums_(events) {}
    ~PapiGroup() override {
        stop();
        library_.PAPI_cleanup_eventset(set_);
        library_.PAPI_destroy_eventset(&set_);
    }

    std::string start() override {
        const int result = library_.PAPI_start(set_);
        runs_ = result == PAPI_OK;
        return runs_ ? std::string() : refusal(library_, "PAPI_start", result);
    }
    // Counts begin anew with each start.
    void stop() override {
        if (!runs_)
            return;
        runs_ = false;
        std::vector<long long> values(sums_.size());
        is_read_ = library_.PAPI_stop(set_, values.data()) == PAPI_OK;
        for (size_t i = 0; is_read_ && i < values.size(); ++i)
            sums_[i] += values[i];
    }
    std::optional<std::vector<CounterValue>> read() override {
        std::vector<long long> values(sums_.size());
        if (runs_ ? library_.PAPI_read(set_, values.data()) != PAPI_OK : !is_read_)
            return std::nullopt;
        std::vector<CounterValue> counts;
        for (size_t i = 0; i < values.size(); ++i)
            counts.push_back({.count = sums_[i] + values[i], .enabled_ns = {}, .running_ns = {}});
        return counts;
    }

  private:
    const PapiLibrary& library_;
    int set_;
    bool runs_ = false, is_read_ = false;
    std::vector<int64_t> sums_; // of the times between start and stop
};

} // namespace

std::string PapiSource::add(int set, const CounterEvent& event) const {
    int result = PAPI_ENOEVNT;
    for (const char* name : event.named) {
        if (!name || !*name)
            break;
        const int latest = library_.PAPI_add_named_event(set, name);
        if (latest == PAPI_OK)
            return {};
        if (result == PAPI_ENOEVNT) // that an event is not known says the least
            result = latest;
    }
    return refusal(library_, "PAPI_add_named_event", result);
}

OpenedGroup PapiSource::open(std::span<const CounterEvent* const> events, pid_t pid) {
    int set = PAPI_NULL;
    std::string why;
    const auto failed = [&](const char* step, int result) {
        if (result != PAPI_OK && why.empty())
            why = refusal(library_, step, result);
        return !why.empty();
    };
    if (failed("PAPI_create_eventset", library_.PAPI_create_eventset(&set)))
        return {nullptr, 0, why};
    auto group = std::make_unique<PapiGroup>(library_, set, events.size());
    PAPI_option_t inherit{};
    inherit.inherit.eventset = set;
    inherit.inherit.inherit = PAPI_INHERIT_ALL;
    // The component comes first: options of a set that belongs to none are refused.
    if (failed("PAPI_assign_eventset_component", library_.PAPI_assign_eventset_component(set, 0)) ||
        failed("PAPI_set_opt(PAPI_INHERIT)", library_.PAPI_set_opt(PAPI_INHERIT, &inherit)) ||
        failed("PAPI_attach", library_.PAPI_attach(set, static_cast<unsigned long>(pid))))
        return {nullptr, 0, why};
    for (size_t i = 0; i < events.size(); ++i)
        if (why = add(set, *events[i]); !why.empty())
            return {nullptr, i, why};
    return {std::move(group), 0, ""};
}

} // namespace plumb::record
