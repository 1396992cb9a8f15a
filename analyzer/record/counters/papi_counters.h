// Counters by PAPI's presets and native events. Used by one thread; a process has one library, so one PapiSource.
#pragma once

#include "record/counters/counter_group.h"
#include "record/counters/papi_library.h"

namespace plumb::record {

class PapiSource : public CounterSource {
  public:
    const PapiLibrary& library() const { return library_; }
    std::string name() const override { return "PAPI " + library_.version(); }
    bool knows(const CounterEvent& event) const override { return library_.works() && event.named[0] && *event.named[0]; }
    // Attached with PAPI_INHERIT. What PAPI says of an event by asking it is not relied on: on a machine without counters it knows
    // events that it cannot add.
    OpenedGroup open(std::span<const CounterEvent* const> events, pid_t pid) override;

  private:
    std::string add(int set, const CounterEvent& event) const;
    PapiLibrary library_;
};

} // namespace plumb::record
