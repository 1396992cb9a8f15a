#include "diagnoses/registry.h"

namespace plumb {

namespace {

const DiagnosisEntry kEntries[] = {
    {"cpu-oversubscribed", "threads wait for a CPU while others have room, or behind other programs",
     make_cpu_oversubscribed},
};

} // namespace

std::span<const DiagnosisEntry> diagnosis_registry() { return kEntries; }

} // namespace plumb
