#include "record/counters/counter_event.h"

#include <algorithm>
#include <iterator>
#include <linux/perf_event.h>

namespace plumb::record {

namespace {

constexpr uint64_t cache_misses_of(uint64_t cache) {
    return cache | PERF_COUNT_HW_CACHE_OP_READ << 8 | PERF_COUNT_HW_CACHE_RESULT_MISS << 16;
}

// PAPI's presets as "PAPI presets" of its manual defines them (papi_avail); native names as the lists of Intel and Arm do.
constexpr CounterEvent kEvents[] = {
    {"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, {"PAPI_TOT_CYC", ""}, Quantity::cycles},
    {"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, {"PAPI_TOT_INS", ""}, Quantity::instructions},
    {"reference cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES, {"PAPI_REF_CYC", ""}, Quantity::cycles},
    {"stalled cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND, {"PAPI_RES_STL", ""}, Quantity::at_most_cycles},
    {"memory stalls", kNoPerf, 0, {"CYCLE_ACTIVITY:STALLS_MEM_ANY", "EXE_ACTIVITY:BOUND_ON_LOADS", "STALL_BACKEND_MEM"},
     Quantity::memory_cycles},
    {"last level stalls", kNoPerf, 0, {"CYCLE_ACTIVITY:STALLS_L3_MISS", "MEMORY_ACTIVITY:STALLS_L3_MISS", ""}, Quantity::memory_cycles},
    {"data cache misses", PERF_TYPE_HW_CACHE, cache_misses_of(PERF_COUNT_HW_CACHE_L1D), {"PAPI_L1_DCM", "PAPI_L1_LDM", ""},
     Quantity::scattered_loads},
    {"last level misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, {"PAPI_L3_TCM", "PAPI_L3_DCM", "PAPI_L2_DCM"},
     Quantity::scattered_loads},
    {"data TLB misses", PERF_TYPE_HW_CACHE, cache_misses_of(PERF_COUNT_HW_CACHE_DTLB), {"PAPI_TLB_DM", ""},
     Quantity::scattered_loads},
    {"remote memory loads", PERF_TYPE_HW_CACHE, cache_misses_of(PERF_COUNT_HW_CACHE_NODE), {""}, Quantity::at_most_loads},
    {"branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, {"PAPI_BR_INS", ""}, Quantity::branches},
    {"branch misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES, {"PAPI_BR_MSP", ""}, Quantity::at_most_branches},
    {"double precision operations", kNoPerf, 0, {"PAPI_DP_OPS", "PAPI_FP_OPS", ""}, Quantity::double_operations},
    {"scalar double precision operations", kNoPerf, 0, {"FP_ARITH:SCALAR_DOUBLE", "FP_ARITH_INST_RETIRED:SCALAR_DOUBLE", ""},
     Quantity::scalar_double_operations},
    {"CPU clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, {""}, Quantity::cpu_ns},
    {"page faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, {""}, Quantity::page_faults},
    {"context switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES, {""}, Quantity::context_switches},
    {"CPU migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS, {""}, Quantity::cpu_migrations},
};

std::vector<const CounterEvent*> named(std::initializer_list<std::string_view> names) {
    std::vector<const CounterEvent*> events;
    for (const std::string_view name : names)
        events.push_back(find_event(name));
    return events;
}

} // namespace

std::span<const CounterEvent> counter_events() { return kEvents; }

const CounterEvent* find_event(std::string_view name) {
    const auto found = std::ranges::find_if(kEvents, [&](const CounterEvent& event) { return name == event.name; });
    return found == std::end(kEvents) ? nullptr : &*found;
}

bool is_software(const CounterEvent& event) { return event.perf_type == PERF_TYPE_SOFTWARE; }

bool needs_scattered_loads(const CounterEvent* event) {
    return event->quantity == Quantity::scattered_loads || event->quantity == Quantity::memory_cycles;
}

std::vector<CounterGroupPlan> hardware_groups() {
    return {{"work", named({"cycles", "instructions", "reference cycles"})},
            {"caches", named({"cycles", "instructions", "data cache misses", "last level misses"})},
            {"stalls", named({"cycles", "instructions", "stalled cycles", "data TLB misses"})},
            {"memory stalls", named({"cycles", "instructions", "memory stalls", "last level stalls"})},
            {"floating point", named({"cycles", "instructions", "double precision operations", "scalar double precision operations"})},
            {"branches", named({"cycles", "instructions", "branches", "branch misses"})},
            {"remote memory", named({"cycles", "instructions", "remote memory loads"})}};
}

CounterGroupPlan software_group() {
    return {"kernel", named({"CPU clock", "page faults", "context switches", "CPU migrations"})};
}

std::vector<std::vector<const CounterEvent*>> sampled_sets() {
    return {named({"cycles", "memory stalls", "stalled cycles", "last level stalls", "last level misses"}),
            named({"data cache misses", "data TLB misses", "remote memory loads", "branch misses"})};
}

} // namespace plumb::record
