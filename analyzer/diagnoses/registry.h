// All diagnoses, in the order in which reports mention equals: registry.def lists them.
#pragma once

#include "diagnoses/diagnosis.h"

#include <memory>
#include <span>
#include <vector>

namespace plumb {

struct DiagnosisEntry {
    const char* id;
    const char* summary; // one line for `plumb report --help` and the documentation
    DiagnosisFactory make;
};

std::span<const DiagnosisEntry> diagnosis_registry();

// What this diagnosis finds, each finding with its severity. Throws what the diagnosis throws.
std::vector<Finding> findings_of(const DiagnosisEntry& entry, const DiagnosisInput& input);

// One for each diagnosis, defined in the file named after it.
#define X(folder, name, summary) std::unique_ptr<Diagnosis> make_##name();
#include "diagnoses/registry.def"
#undef X

} // namespace plumb
