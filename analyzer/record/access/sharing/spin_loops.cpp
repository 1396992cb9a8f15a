#include "record/access/sharing/spin_loops.h"

#include <plumb/trace_format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace plumb::record {

namespace {

constexpr uint64_t kEnoughSamples = 4; // of an instruction, before the code around it is looked at
constexpr size_t kMostAddresses = 64;  // of one instruction
constexpr size_t kMostFound = 256;
constexpr size_t kMostCallers = 3;     // of sched_yield, the innermost first
constexpr uint64_t kMostOthers = 16;   // one of so many samples between the ends of a loop may stand in other code

} // namespace

SpinLoops::SpinLoops(AccessSampling& code, ProcessTable& processes)
    : code_(code),
      instructions_(code, processes, kEnoughSamples, [this](uint32_t pid, const auto& places) { judge(pid, places); }) {}

void SpinLoops::take(const PerfRecord& sample, std::span<const CallChain::Step> chain, uint64_t weight_ns,
                     const SampledAccess* access) {
    saw_kernel_ |= sample.in_kernel;
    if (chain.size() > 1 && code_.is_behind_yield(sample))
        return take_yield(sample, chain, weight_ns);
    Instructions::Instruction* place = instructions_.take(sample, weight_ns);
    if (!place || !place->code || !place->code->waiting || !access)
        return;
    place->instruction = access->instruction;
    place->last_address = access->address;
    if (place->addresses.size() < kMostAddresses)
        place->addresses.insert(access->address);
}

// The nearest caller that waits in a loop, past functions that do no more than to yield.
void SpinLoops::take_yield(const PerfRecord& sample, std::span<const CallChain::Step> chain, uint64_t weight_ns) {
    while (!chain.empty() && chain.back().flags & trace::kPathKernel)
        chain = chain.first(chain.size() - 1);
    PerfRecord there = sample;
    there.in_kernel = false;
    for (size_t callers = 0; callers < kMostCallers && chain.size() > 1; ++callers) {
        chain = chain.first(chain.size() - 1);
        there.address = chain.back().address;
        Instructions::Instruction* place = instructions_.take(there, weight_ns);
        if (!place || !place->code)
            return;
        if (!place->code->waiting)
            continue;
        const auto address = place->code->waiting->moved_by(there.address).address_at_call(sample);
        if (address && place->looked_at.size() < kMostAddresses)
            place->looked_at.insert(*address);
        return;
    }
}

// A loop around others that only waits as well, as one that tries to take a lock and then looks until it is free, has their
// samples too. Code that computes may lie between the ends of a loop without being in it: such a loop is left out.
void SpinLoops::judge(uint32_t pid, const Instructions::OfProgram& places) {
    std::map<std::pair<uint64_t, uint64_t>, WaitLoop> loops; // by beginning; of those, the longest first
    for (const auto& [address, place] : places)
        if (place.code && place.code->waiting) {
            const WaitLoop loop = place.code->waiting->moved_by(address);
            loops.emplace(std::pair{loop.begin, ~loop.end}, loop);
        }
    uint64_t covered = 0; // up to here, by loops that were written
    for (const auto& [key, loop] : loops) {
        if (loop.begin < covered || found_.size() >= kMostFound)
            continue;
        trace::SpinLoop record{};
        uint64_t others = 0;
        std::set<uint64_t> addresses;
        for (const auto& [address, place] : places) {
            if (address < loop.begin || address >= loop.end)
                continue;
            others += place.code && !place.code->waiting ? place.samples : 0;
            record.samples += place.samples;
            record.time_ns += place.time_ns;
            record.first_ns = record.first_ns == 0 ? place.first_ns : std::min(record.first_ns, place.first_ns);
            if (loop.looks() && place.instruction == loop.instruction && place.last_address != 0) {
                addresses.insert(place.addresses.begin(), place.addresses.end());
                record.last_address = place.last_ns >= record.last_ns || record.last_address == 0 ? place.last_address
                                                                                                  : record.last_address;
            }
            if (loop.yields && address == loop.yield_return && !place.looked_at.empty()) {
                addresses.insert(place.looked_at.begin(), place.looked_at.end());
                record.last_address = record.last_address == 0 ? *place.looked_at.begin() : record.last_address;
            }
            record.last_ns = std::max(record.last_ns, place.last_ns);
        }
        if (record.samples < kEnoughSamples || others * kMostOthers > record.samples)
            continue; // loops within it may still be found
        record.pid = pid;
        record.flags = (loop.pauses ? trace::kSpinPauses : 0u) | (loop.stores ? trace::kSpinStores : 0u);
        record.loop_begin = loop.begin;
        record.loop_end = loop.end;
        record.instruction = loop.looks() ? loop.instruction : 0;
        record.width = loop.width;
        record.yield_return = loop.yield_return;
        record.variables = static_cast<uint32_t>(std::min<size_t>(addresses.size(), 255));
        found_.push_back(record);
        covered = loop.end;
    }
}

void SpinLoops::write(NodeTraceWriter& file, Calibration& calibration) {
    instructions_.forget_all();
    const bool any_yields = std::ranges::any_of(found_, [](const trace::SpinLoop& record) { return record.yield_return != 0; });
    const uint64_t kernel_milli = any_yields && !saw_kernel_ ? calibration.yield_kernel_milli() : 0;
    for (trace::SpinLoop& record : found_) {
        record.yield_kernel_milli = record.yield_return != 0 ? kernel_milli : 0;
        file.append(trace::RecordType::SpinLoop, 0, record);
    }
    found_.clear();
}

} // namespace plumb::record
