#include "record/counters/chosen_samples.h"

namespace plumb::record {

void ChosenSamples::offer(const CounterEvent& event, uint32_t pid, uint32_t tid, uint64_t time_ns) {
    Choice& choice = chosen_[&event];
    ++choice.offered;
    if (choice.records.size() < kMostOfEvent && choice.offered == choice.records.size() + 1) {
        trace::CounterSample record{};
        record.event = file_.string(event.name);
        record.pid = pid;
        record.time_ns = time_ns;
        if (trace::CounterSample* const kept = file_.append(trace::RecordType::CounterSample, tid, record))
            choice.records.push_back(kept);
        return;
    }
    const uint64_t place = random_() % choice.offered;
    if (place >= choice.records.size())
        return;
    trace::CounterSample& replaced = *choice.records[place];
    update(replaced.header.tid, tid);
    update(replaced.pid, pid);
    update(replaced.time_ns, time_ns);
}

} // namespace plumb::record
