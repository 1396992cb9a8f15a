// All diagnoses, in the order in which reports mention equals.
#pragma once

#include "diagnoses/diagnosis.h"

#include <span>

namespace plumb {

struct DiagnosisEntry {
    const char* id;
    const char* summary; // one line for `plumb report --help` and the documentation
    DiagnosisFactory make;
};

std::span<const DiagnosisEntry> diagnosis_registry();

} // namespace plumb
